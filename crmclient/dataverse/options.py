"""Options for the connection to the platform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

API_VERSION: Final = "9.2"
"""The version of the Web API that every request is made in."""

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """`url` is the organisation's, such as `https://contoso.crm.dynamics.com`. Times are in seconds.

    `timeout` bounds a call that brings no deadline; a deadline bounds all attempts of a call together.
    `metadata_timeout` bounds each request for metadata, which may take Dataverse much longer.
    `retries` follow a first attempt. `concurrency` is how many requests of this process are under way at
    once, however much the budget has left. `largest_answer` is in bytes; files are not bounded by it.
    `by_object_id`: a call for a caller names its user by the object id in Entra ID, not by its id there.
    """

    url: str
    connect_timeout: float = 5.0
    timeout: float = 20.0
    metadata_timeout: float = 120.0
    retries: int = 3
    concurrency: int = 40
    largest_answer: int = 64 * MEGABYTE
    by_object_id: bool = False

    @property
    def root(self) -> str:
        """The organisation's URL without a slash at its end."""
        return self.url.rstrip("/")

    @property
    def base(self) -> str:
        """The address that every path is relative to."""
        return f"{self.root}/api/data/v{API_VERSION}/"

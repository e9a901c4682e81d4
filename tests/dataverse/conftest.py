"""A CRM server that fails on request, and the client in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest
import requests

from crmclient.dataverse.platform import DataversePlatform
from tests.chosen_platform import serving_with
from tests.dataverse.reaching import platform_at
from tests.servers import Server, Site, copied

Serving: TypeAlias = Callable[[DataversePlatform], None]


@pytest.fixture
def serving(portico: None, settings: Any) -> Iterator[Serving]:
    """Makes a platform the service's own. Before a call of it, the demo's is still there."""

    with ExitStack() as stack:
        yield lambda platform: stack.enter_context(serving_with(platform, settings))


@pytest.fixture(scope="session")
def _failing_server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("failing") / "data", "failing") as site:
        yield site.start_crm(root="/contoso", CRM_SERVER_FAULTS="1")


class Failing:
    """`arm` says what goes wrong next; `struck` how often each of it has."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def arm(self, *faults: dict[str, Any]) -> None:
        requests.put(f"{self.server.url}/faults", json={"faults": faults}, timeout=10).raise_for_status()

    def deny(self, *privileges: str) -> None:
        """From now on, the account of the service lacks these privileges, until the end of the test."""
        body = {"faults": [], "denied": privileges}
        requests.put(f"{self.server.url}/faults", json=body, timeout=10).raise_for_status()

    def struck(self) -> list[int]:
        answer = requests.get(f"{self.server.url}/faults", timeout=10).json()
        return [fault["struck"] for fault in answer["faults"]]

    def platform(self, **options: Any) -> DataversePlatform:
        """A client of its own, which knows the metadata of accounts already."""
        client = platform_at(self.server, **options)
        client.attributes("account")
        return client


@pytest.fixture
def failing(_failing_server: Server) -> Iterator[Failing]:
    faults = Failing(_failing_server)
    faults.arm()
    yield faults
    faults.deny()

"""The subject of a request, which its errors name."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from crmclient.metadata import AlternateKey
from crmclient.values import Guid, ProcessValues


class Kind(Enum):
    """What kind of thing a request is about."""

    RECORD = "record"
    QUERY = "query"
    PROCESS = "process"
    FILE = "file"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about, so that an error can name it.

    `name` is the name of a process, or of the attribute of a file; `values` are those of a write.
    """

    kind: Kind
    entity: str = ""
    id: Guid = ""
    name: str = ""
    values: ProcessValues = field(default_factory=dict)
    keys: tuple[AlternateKey, ...] = ()
    primary_id: str = ""

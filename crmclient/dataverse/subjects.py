"""What a request is about: what its errors need to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from crmclient.metadata import AlternateKey
from crmclient.values import Guid, ProcessValues


class Kind(Enum):
    RECORD = "record"
    QUERY = "query"
    PROCESS = "process"
    FILE = "file"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Subject:
    """`name` is a process's, or a file's attribute; `values` are those of a write."""

    kind: Kind
    entity: str = ""
    id: Guid = ""
    name: str = ""
    values: ProcessValues = field(default_factory=dict)
    keys: tuple[AlternateKey, ...] = ()
    primary_id: str = ""

"""The MetadataId of each definition: made of its name, so it is the same in every process."""

from __future__ import annotations

import uuid
from typing import Final

from crmclient.values import Guid

_ROOT: Final = uuid.UUID("8a4f9a5e-2d0c-5f57-9b1d-6d2f0f3c7b11")


def metadata_id(kind: str, *names: str) -> Guid:
    """`kind` is `entity`, `attribute`, `relationship`, `key`, `optionset`, `option`, `label` or `process`."""
    return str(uuid.uuid5(_ROOT, "/".join((kind, *names))))

"""The block store that the setting CRM_FILES names."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from crmbox.files.blocks import BlockStore
from crmbox.files.store_db import DatabaseBlocks
from crmbox.files.store_disk import DiskBlocks


def block_store(alias: str) -> BlockStore:
    """In `alias`'s database, or in the folder `files` of DATA_DIR."""
    if settings.PORTICO["CRM_FILES"] == "disk":
        return DiskBlocks(Path(settings.DATA_DIR) / "files")
    return DatabaseBlocks(alias)

"""The modules that hold handlers: a new one is a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Final

MODULES: Final = (
    *(
        f"crmbox.webapi.metadata.{name}"
        for name in (
            "csdl",
            "metadata_paths",
            "virtual_entity_sets",
            "messages",
            "metadata_post",
            "metadata_put",
            "metadata_delete",
            "options",
            "changes",
        )
    ),
    "crmbox.webapi.collections",
    "crmbox.webapi.properties",
    "crmbox.webapi.service",
    "crmbox.webapi.batch.batch_requests",
    "crmbox.webapi.files.messages",
    "crmbox.webapi.files.attachments",
    "crmbox.webapi.operations.process_calls",
    "crmbox.webapi.operations.bulk_delete",
    *(f"crmbox.webapi.records.{name}" for name in ("retrieve", "create", "update", "delete", "links")),
)


def load_handlers() -> None:
    """Import them all, so that their handlers are registered."""
    for module in MODULES:
        import_module(module)

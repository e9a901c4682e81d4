"""The modules that hold handlers: a new one is a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Final

MODULES: Final = (
    *(
        f"crmclient.embedded.webapi.metadata.{name}"
        for name in (
            "csdl",
            "reading",
            "languages",
            "processes",
            "messages",
            "creating",
            "changing",
            "deleting",
            "options",
            "changes",
        )
    ),
    "crmclient.embedded.webapi.odata.collections",
    "crmclient.embedded.webapi.service",
    "crmclient.embedded.webapi.batch.running",
    "crmclient.embedded.webapi.files.messages",
    "crmclient.embedded.webapi.operations.processes",
    "crmclient.embedded.webapi.operations.bulk_delete",
    *(
        f"crmclient.embedded.webapi.records.{name}"
        for name in ("retrieve", "create", "update", "delete", "properties", "links")
    ),
)


def load_handlers() -> None:
    """Import them all, so that their handlers are registered."""
    for module in MODULES:
        import_module(module)

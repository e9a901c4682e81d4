"""Which item of the document a row of the studio is."""

from __future__ import annotations

from django.db.models import Model

from designer.configuration import Configuration
from designer.history.items import ItemKey, items_of
from designer.models import CallerType, Endpoint, ExposedEntity, Issuer, Module, Role, UserProperty


def item_key(row: Model, configuration: Configuration) -> ItemKey | None:
    """The list and key of a saved row's item; None for a row that is none, or makes no definition."""
    match row:
        case Issuer():
            return "issuers", row.name
        case Endpoint():
            endpoint = configuration.endpoints.get(row.pk)
            return ("endpoints", endpoint.definition.key) if endpoint and not endpoint.problem else None
        case ExposedEntity():
            return "entities", f"{row.module.segment}.{row.segment}"
        case Module():
            return "modules", row.segment
        case Role():
            return "roles", row.name
        case CallerType():
            return "caller_types", row.name
        case UserProperty():
            return "user_properties", row.key
        case _:
            return None


def state_of_row(row: Model, configuration: Configuration) -> str:
    """A digest of what the row is now; empty where nobody can say."""
    key = item_key(row, configuration)
    item = items_of(configuration).get(key) if key else None
    return item.digest if item else ""

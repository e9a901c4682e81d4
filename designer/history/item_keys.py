"""Which item of the document a row of the studio is, and which recorded rows are of an item."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Model, Q

from designer.configuration import Configuration
from designer.history.items import ItemKey, items_of
from designer.models import CallerType, Endpoint, ExposedEntity, Issuer, Module, Role, UserProperty


def item_key(row: Model, configuration: Configuration) -> ItemKey | None:
    """Return the list and the key of a saved row's item.

    None for a row that is no item, and for an endpoint that makes no definition.
    """
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
    """Return a digest of the item that the row is now; empty where it cannot be told."""
    key = item_key(row, configuration)
    item = items_of(configuration).get(key) if key else None
    return item.digest if item else ""


def any_of(keys: Sequence[ItemKey]) -> Q:
    """Return the condition that a recorded row, by its `collection` and `key`, is of one of these items."""
    # Matches no row, so that no keys match none.
    condition = Q(pk__in=())
    for field in dict.fromkeys(field for field, _ in keys):
        condition |= Q(collection=field, key__in=[key for collection, key in keys if collection == field])
    return condition

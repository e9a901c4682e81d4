"""`$select`: which attributes the properties named in it are."""

from __future__ import annotations

from crmbox.webapi.errors import bad_url
from crmbox.webapi.model import EntityType


def columns_of(type_: EntityType, select: str | None) -> tuple[str, ...]:
    """Logical names, the primary key among them; all attributes without a `$select`.

    Raises WebApiError for a name that is no property.
    """
    if select is None or not select.strip() or select.strip() == "*":
        return tuple(type_.attributes)
    found = [type_.entity.primary_id]
    for item in select.split(","):
        name = item.strip()
        attribute = type_.selectable.get(name)
        if attribute is None:
            raise bad_url(f"Could not find a property named '{name}' on type '{type_.type_name}'.")
        found.append(attribute.logical_name)
    return tuple(dict.fromkeys(found))

"""Values of the user context: a lookup is its GUID there, everything else as any answer has it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from crmclient import Reference, Value
from crmclient.metadata import Attribute
from runtime.values import outputs


def plain(value: Value, attribute: Attribute) -> Any:
    if isinstance(value, Reference):
        return value.id
    return outputs.with_places(value, attribute.precision or 0) if isinstance(value, Decimal) else value


def plain_schema(attribute: Attribute) -> dict[str, Any]:
    """The JSON Schema of what `plain` gives for a value of `attribute`."""
    schema = outputs.schema(attribute)
    if not attribute.type.is_reference:
        return schema
    words = {key: text for key, text in schema.items() if key == "description"}
    return {"type": ["string", "null"], "format": "uuid", **words}

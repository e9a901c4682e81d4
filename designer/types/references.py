"""Guid and EntityReference: ids, and ids of records of a known entity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop as _

from crmclient import Reference, parse_guid
from crmclient.metadata import AttributeType
from designer.sentences import Sentence
from designer.types.allowed import within
from designer.types.base import InvalidInput, Limits, Reader


@dataclass(frozen=True, slots=True)
class GuidType:
    name: str = "Guid"
    label: str = _("Id (GUID)")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.UNIQUEIDENTIFIER})
    constraints: frozenset[str] = frozenset({"allowed"})

    def compile(self, limits: Limits) -> Reader:
        return within(limits, _guid)

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "string", "format": "uuid"}


@dataclass(frozen=True, slots=True)
class EntityReferenceType:
    """A record: its id where one entity is possible, `{"type", "id"}` where several are."""

    name: str = "EntityReference"
    label: str = _("Reference to a record")
    attribute_types: frozenset[AttributeType] = frozenset(
        {AttributeType.LOOKUP, AttributeType.CUSTOMER, AttributeType.OWNER}
    )
    constraints: frozenset[str] = frozenset()

    def compile(self, limits: Limits) -> Reader:
        targets = limits.targets
        if len(targets) == 1:
            (target,) = targets
            return lambda raw: Reference(target, _guid(raw))
        sentence = 'Must be an object {"type", "id"} with a type of: ' + ", ".join(targets) + "."

        def read(raw: Any) -> Reference:
            if type(raw) is not dict or raw.keys() != {"type", "id"}:
                raise InvalidInput("wrong_type", sentence)
            if raw["type"] not in targets:
                raise InvalidInput("unknown_target", sentence)
            return Reference(raw["type"], _guid(raw["id"]))

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        guid = {"type": "string", "format": "uuid"}
        if len(limits.targets) == 1:
            return guid
        return {
            "type": "object",
            "properties": {"type": {"type": "string", "enum": list(limits.targets)}, "id": guid},
            "required": ["type", "id"],
            "additionalProperties": False,
        }


def _guid(raw: Any) -> str:
    if type(raw) is not str:
        raise InvalidInput("wrong_type", Sentence("Must be a GUID."))
    try:
        return parse_guid(raw)
    except ValueError:
        raise InvalidInput("wrong_type", Sentence("Must be a GUID.")) from None


GUID = GuidType()
ENTITY_REFERENCE = EntityReferenceType()

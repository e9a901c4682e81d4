"""Guid and EntityReference: ids, and ids of records of a known entity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_noop as _

from crmclient import Reference, parse_guid
from crmclient.metadata import Attribute, AttributeType
from crmclient.query.designed import DateOperator, DesignedOperator
from designer.sentences import Sentence
from designer.types.allowed import within
from designer.types.base import PATTERNS, InputType, InvalidInput, Limits, Reader

GUID_SCHEMA: dict[str, Any] = {"type": "string", "format": "uuid"}
SAMPLE_ID = "00000000-0000-0000-0000-000000000001"


@dataclass(frozen=True, slots=True)
class GuidType(InputType):
    name: str = "Guid"
    label: str = _("Id (GUID)")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.UNIQUEIDENTIFIER})
    constraints: frozenset[str] = frozenset({"allowed"})
    sample: ClassVar[Any] = SAMPLE_ID

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        return _rank(self, operator, attribute)

    def compile(self, limits: Limits) -> Reader:
        return within(limits, _guid)

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {**GUID_SCHEMA, "enum": list(limits.allowed)} if limits.allowed else GUID_SCHEMA


@dataclass(frozen=True, slots=True)
class EntityReferenceType(InputType):
    """A record: its id where one entity is possible, `{"type", "id"}` where several are."""

    name: str = "EntityReference"
    label: str = _("Reference to a record")
    attribute_types: frozenset[AttributeType] = frozenset(
        {AttributeType.LOOKUP, AttributeType.CUSTOMER, AttributeType.OWNER}
    )
    constraints: frozenset[str] = frozenset()
    needs_targets: ClassVar[bool] = True
    sample: ClassVar[Any] = {"type": "1", "id": SAMPLE_ID, "name": "1"}

    @property
    def widget(self) -> str:
        return "lookup"

    @property
    def as_parameter(self) -> InputType:
        """The type that reads a value of the input in a query string."""
        # An id says which record is meant, whatever entity it is of.
        return GUID

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        return _rank(self, operator, attribute)

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of an id where there is one target, else of `{"type", "id"}`. It raises
        InvalidInput.
        """
        targets = limits.targets
        if len(targets) == 1:
            (target,) = targets
            return lambda raw: Reference(target, _guid(raw))
        return reader_of_records(targets)

    def schema(self, limits: Limits) -> dict[str, Any]:
        if len(limits.targets) == 1:
            return GUID_SCHEMA
        return {
            "type": "object",
            "properties": {"type": {"type": "string", "enum": list(limits.targets)}, "id": GUID_SCHEMA},
            "required": ["type", "id"],
            "additionalProperties": False,
        }


def reader_of_records(targets: tuple[str, ...]) -> Callable[[Any], Reference]:
    """Return a reader of `{"type", "id"}`, for a record of one of `targets`."""
    sentence = Sentence(
        'Must be an object {"type", "id"} with a type of: %(targets)s.', targets=", ".join(targets)
    )

    def read(raw: Any) -> Reference:
        if type(raw) is not dict or raw.keys() != {"type", "id"}:
            raise InvalidInput("wrong_type", sentence)
        if raw["type"] not in targets:
            raise InvalidInput("unknown_target", sentence)
        return Reference(raw["type"], _guid(raw["id"]))

    return read


def _rank(input_type: InputType, operator: DesignedOperator, attribute: Attribute) -> int | None:
    """Return the rank of an id or a record for a condition.

    An id fits where a record is meant, and a record where an id is meant, but not as well as the
    attribute's own type. None: it does not fit.
    """
    if isinstance(operator, DateOperator) or operator in PATTERNS:
        return None
    if attribute.type in input_type.attribute_types:
        return 0
    return 1 if attribute.type in GUID.attribute_types | ENTITY_REFERENCE.attribute_types else None


def _guid(raw: Any) -> str:
    """Return the id that a caller sends, in the form of the platform. Raises InvalidInput."""
    if type(raw) is not str:
        raise InvalidInput("wrong_type", Sentence("Must be a GUID."))
    try:
        return parse_guid(raw)
    except ValueError:
        raise InvalidInput("wrong_type", Sentence("Must be a GUID.")) from None


GUID = GuidType()
ENTITY_REFERENCE = EntityReferenceType()

"""How a query reads the values of an input, so that the same is judged and served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crmclient.known_options import known_options
from crmclient.metadata import Attribute, OptionSet
from crmclient.query.resolving import can_compare
from designer.calendar import calendar
from designer.definitions import InputDefinition
from designer.endpoint_facts.query_parameters import Use, takes_list
from designer.sentences import Sentence
from designer.types import TYPES, InputType, InvalidInput, Limits


class Attributes(Protocol):
    """The metadata that a query's inputs depend on: of a platform, or what readiness knows of it."""

    def attributes(self, entity: str, /) -> Mapping[str, Attribute]: ...

    def option_set(self, name: str, /) -> OptionSet | None: ...


@dataclass(frozen=True, slots=True)
class QueryValues:
    """The values that an input of a query takes.

    `input_type` reads one of them, or all of them when it is several itself, within `limits`. `takes_list`:
    callers send a list of them. `conditions` are those that compare with them, each with its attribute where
    that is known.
    """

    input_type: InputType
    limits: Limits
    takes_list: bool
    conditions: tuple[tuple[Use, Attribute], ...]

    @classmethod
    def of(cls, definition: InputDefinition, uses: Sequence[Use], metadata: Attributes) -> QueryValues:
        """Return the values of an input whose type exists. `uses` are the conditions that read it."""
        input_type = TYPES[definition.type]
        candidates = ((use, metadata.attributes(use.entity).get(use.attribute)) for use in uses)
        conditions = tuple((use, attribute) for use, attribute in candidates if attribute is not None)
        attribute = _attribute_compared(conditions)
        options = (
            known_options(attribute, metadata.option_set)
            if input_type.is_choice and attribute is not None
            else None
        )
        return cls(
            input_type.as_parameter,
            Limits.of(definition, None, options),
            input_type.is_several or takes_list(uses),
            conditions,
        )

    @property
    def attribute(self) -> Attribute | None:
        """What the input is compared with; None where that is not known."""
        return _attribute_compared(self.conditions)

    def in_json(self, default: Any) -> Any:
        """Return a default in the form that the JSON Schema of the values describes: for a list, an array."""
        return default if not self.takes_list or isinstance(default, list) else [default]

    def read(self, default: Any) -> Any:
        """Return a default, which is in JSON form, as a value of the input: a tuple for a list.

        The default of a list is one item or an array of items. Raises InvalidInput, also for a value that a
        condition cannot compare with, and ValueError for limits that make no sense.
        """
        read = self.input_type.compile(self.limits)
        if self.takes_list and not self.input_type.is_several:
            items = self.in_json(default)
            if not items:
                raise InvalidInput("required", Sentence("Must hold at least one item."))
            value: Any = tuple(read(item) for item in items)
        else:
            value = read(default)
        for use, attribute in self.conditions:
            if not can_compare(use.condition, attribute, value, calendar()):
                raise InvalidInput(
                    "invalid_value",
                    Sentence(
                        "“%(attribute)s” %(operator)s @%(name)s cannot compare with this value.",
                        attribute=use.attribute,
                        operator=use.operator.value,
                        name=use.parameter,
                    ),
                )
        return value


def _attribute_compared(conditions: Sequence[tuple[Use, Attribute]]) -> Attribute | None:
    """Return the attribute that an input is compared with.

    If there are several, return one with an option set, if any has one.
    """
    attributes = [attribute for _, attribute in conditions]
    return next(
        (attribute for attribute in attributes if attribute.option_set), attributes[0] if attributes else None
    )

"""Input types: what a caller may send for an input, and the value it becomes.

A type is one module here and one line in `TYPES`, or a package's. Readers are compiled once for an endpoint;
they are strict: nothing is coerced, rounded or passed through a float.
"""

from __future__ import annotations

import datetime as dt
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Final, TypeAlias

from crmclient import Value
from crmclient.metadata import Attribute, AttributeType, OptionSet
from crmclient.query.ast import Operator
from crmclient.query.designed import DateOperator, DesignedOperator
from designer.definitions import InputDefinition

Reader: TypeAlias = Callable[[Any], Value]

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)

# Operators that compare the text of an attribute's value with a pattern.
PATTERNS: Final = frozenset(
    {
        *(Operator.LIKE, Operator.NOT_LIKE, Operator.CONTAINS),
        *(Operator.BEGINS_WITH, Operator.NOT_BEGINS_WITH),
        *(Operator.ENDS_WITH, Operator.NOT_ENDS_WITH),
    }
)


class InvalidInput(ValueError):
    """A value that an input does not accept. `code` is stable; the message says what would be right."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Limits:
    """What an input's definition and the attribute it is bound to allow, the tighter of the two.

    Lengths count characters; `precision` counts decimal places; `options` are the values of the option set
    (None: any); `targets` are the entities a reference may point at (empty: none known). `addresses`: a party
    may be an address alone.
    """

    minimum: Decimal | None = None
    maximum: Decimal | None = None
    min_length: int | None = None
    max_length: int | None = None
    precision: int | None = None
    pattern: str = ""
    allowed: tuple[Any, ...] = ()
    options: frozenset[int] | None = None
    targets: tuple[str, ...] = ()
    required: bool = False
    addresses: bool = False

    @classmethod
    def of(
        cls, definition: InputDefinition, attribute: Attribute | None = None, options: OptionSet | None = None
    ) -> Limits:
        """Return the limits of an input that is bound to `attribute`, whose option set is `options`.

        None stands for an input that is bound to no attribute, or for an attribute without options.
        """
        return cls(
            minimum=tighter(max, definition.minimum, attribute.minimum if attribute else None),
            maximum=tighter(min, definition.maximum, attribute.maximum if attribute else None),
            min_length=definition.min_length,
            max_length=tighter(min, definition.max_length, attribute.max_length if attribute else None),
            precision=attribute.precision if attribute else None,
            pattern=definition.pattern,
            allowed=definition.allowed,
            options=frozenset(option.value for option in options.options) if options else None,
            targets=attribute.targets if attribute else (),
            required=definition.required,
            addresses=attribute.takes_addresses if attribute else False,
        )


class InputType(ABC):
    """A type of input: all that is known about it. Other modules ask its members, and do not list types.

    `constraints` names the InputDefinition fields that mean something for it. `attribute_types` are those
    that an input of this type may be bound to; `fits` says it of a single attribute.
    """

    name: str
    label: str
    attribute_types: frozenset[AttributeType]
    constraints: frozenset[str]

    # How the studio lets people edit a constant: text, number, boolean, date, datetime, option or options.
    editor: ClassVar[str] = "text"
    # A value to judge expressions with where there is no real one.
    sample: ClassVar[Any] = "1"
    # Whether a value is the text that was typed, even where that looks like a number.
    is_textual: ClassVar[bool] = False
    # Whether a query string can hold a value.
    in_query: ClassVar[bool] = True
    # Whether a value is a list of items. In a query string, commas separate them.
    is_several: ClassVar[bool] = False
    # The most items that a list of items may have, whatever its input says. None: a value is no such list.
    most_items: ClassVar[int | None] = None
    # Whether values are records, whose inputs and bindings stand in the input itself.
    holds_records: ClassVar[bool] = False
    # Of a type that holds records: whether a value is one record, and not a list.
    holds_one: ClassVar[bool] = False
    # Whether values can be read only where the bound attribute says which entities are meant.
    needs_targets: ClassVar[bool] = False
    # Whether values are among those of an option set.
    is_choice: ClassVar[bool] = False

    @property
    def widget(self) -> str:
        """The form control for the type, as in `/api/schema`: text, textarea, number, checkbox, select …"""
        return "text"

    @property
    def settings(self) -> frozenset[str]:
        """The InputDefinition fields that an input of this type may set, beside those that all types have."""
        return self.constraints if self.holds_records else self.constraints | {"default", "nullable"}

    @property
    def as_parameter(self) -> InputType:
        """The type that reads a value of the input in a query string."""
        return self

    @abstractmethod
    def compile(self, limits: Limits) -> Reader:
        """Return a function that reads a parsed JSON value (never None). The function raises InvalidInput.

        Raises ValueError when the limits themselves make no sense, such as a pattern that does not compile.
        """

    @abstractmethod
    def schema(self, limits: Limits) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of the values that the reader accepts."""

    def from_text(self, text: str) -> Any:
        """Return the JSON value of a text in a query string.

        A text that is no such value is returned as it is, so that the reader refuses it with its own message.
        """
        return text

    def fits(self, attribute: Attribute) -> bool:
        """Whether `attribute` takes the values of an input of this type.

        An attribute of dates and times holds either days or instants, and neither is taken for the other. The
        `sample` says which of the two the values of this type are.
        """
        if attribute.type is AttributeType.DATETIME and attribute.type in self.attribute_types:
            return type(self.sample) is (dt.date if attribute.holds_days else dt.datetime)
        return attribute.type in self.attribute_types

    def is_natural_for(self, attribute: Attribute) -> bool:
        """Whether the attribute holds values of this type as they are. At most one built-in type does."""
        return attribute.type in self.attribute_types

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well a parameter of this type fits a condition on `attribute`. 0 is best; a greater
        number fits less well; None does not fit.

        The studio proposes the type that fits best. A type that reads only some values of an attribute fits,
        but must not be proposed before the attribute's own.
        """
        # Operators of dates take days or numbers, and patterns are texts, whatever the attribute holds.
        if isinstance(operator, DateOperator) or operator in PATTERNS:
            return None
        if not self.fits(attribute):
            return None
        return 0 if self.is_natural_for(attribute) else 1


def item_bounds(limits: Limits, most_items: int) -> tuple[int, int]:
    """Return the fewest and the most items that a list may have. A required one has at least one."""
    fewest = max(limits.min_length or 0, 1 if limits.required else 0)
    return fewest, most_items if limits.max_length is None else min(most_items, limits.max_length)


def whole_number(text: str) -> Any:
    """Return the number that `text` is, and any other text as it is.

    A number of more than 18 digits stays a text: no input that uses this takes one.
    """
    return int(text) if _WHOLE.fullmatch(text) else text


def tighter(choose: Callable[..., Any], first: Any, second: Any) -> Any:
    """Return the limit that `choose` (`min` or `max`) prefers. None stands for no limit."""
    if first is None or second is None:
        return second if first is None else first
    return choose(first, second)

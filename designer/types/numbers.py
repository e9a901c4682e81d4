"""Integer, BigInt, Decimal, Money and Double. Decimal and Money stay exact: no rounding, no float."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from django.utils.translation import gettext_noop as _

from crmclient.metadata import Attribute, AttributeType
from crmclient.query.designed import WHOLE_DAYS, DateOperator, DesignedOperator
from crmclient.query.shape import LISTS
from designer.sentences import Sentence
from designer.types.allowed import within
from designer.types.base import PATTERNS, InputType, InvalidInput, Limits, Reader, whole_number

_NUMERAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)
_LONGEST_NUMERAL = 64
# Without an example, tools that make up samples take the maximum, and lose some of its digits.
_SCHEMA_EXAMPLE = Decimal("1250.50")
_PLACES_OF_EXAMPLE = 2
_CONSTRAINTS = frozenset({"minimum", "maximum", "allowed"})
# A number of JSON. The digits are limited, so that no text costs much to read.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_EXACT = frozenset({AttributeType.DECIMAL, AttributeType.MONEY})
_CHOICES = frozenset(
    {AttributeType.PICKLIST, AttributeType.STATE, AttributeType.STATUS, AttributeType.MULTISELECT}
)
# How well an Integer or BigInt fits a condition on an attribute that is not of its own type: see
# `InputType.rank`.
_WHOLE_RANKS = {
    AttributeType.INTEGER: 1,
    AttributeType.BIGINT: 1,
    AttributeType.DECIMAL: 2,
    AttributeType.MONEY: 2,
}
_AS_DIGITS = "A string of digits is taken, too: for numbers that a client would not keep exact."


@dataclass(frozen=True, slots=True)
class IntegerType(InputType):
    """A whole number between `lowest` and `highest`.

    With `numerals`, callers may send it as a string of digits, too: JavaScript loses digits of large numbers.
    """

    name: str
    label: str
    attribute_types: frozenset[AttributeType]
    lowest: int
    highest: int
    numerals: bool = False
    constraints: frozenset[str] = _CONSTRAINTS
    editor: ClassVar[str] = "number"
    sample: ClassVar[Any] = 1

    @property
    def widget(self) -> str:
        return "number"

    def from_text(self, text: str) -> Any:
        """Return the value of a text in a query string: a number, or the text itself."""
        # As a text, a large number is read as exactly as it is written.
        return text if self.numerals else whole_number(text)

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        if isinstance(operator, DateOperator):
            # Operators such as “last X days” take a number.
            return None if self.numerals or operator in WHOLE_DAYS else 0
        if operator in PATTERNS:
            return None
        # The values of options are whole numbers, but the types of options fit them better.
        if attribute.type in _CHOICES and not self.numerals:
            return 2 if attribute.type is not AttributeType.MULTISELECT or operator in LISTS else None
        if attribute.type is AttributeType.DOUBLE:
            # A double does not hold every large whole number.
            return None if self.numerals else 1
        return 0 if attribute.type in self.attribute_types else _WHOLE_RANKS.get(attribute.type)

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of whole numbers within `limits`. It raises InvalidInput."""
        lowest, highest = _whole_bounds(limits, self.lowest, self.highest)
        numerals = self.numerals

        def read(raw: Any) -> int:
            if (
                numerals
                and type(raw) is str
                and len(raw) <= _LONGEST_NUMERAL
                and _NUMERAL.fullmatch(raw)
                and "." not in raw  # `_NUMERAL` allows decimal places
            ):
                raw = int(raw)
            if type(raw) is not int:
                raise InvalidInput("wrong_type", Sentence("Must be a whole number."))
            if not lowest <= raw <= highest:
                raise InvalidInput(
                    "out_of_range",
                    Sentence("Must be between %(lowest)s and %(highest)s.", lowest=lowest, highest=highest),
                )
            return raw

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        lowest, highest = _whole_bounds(limits, self.lowest, self.highest)
        number: dict[str, Any] = {"type": "integer", "minimum": lowest, "maximum": highest}
        if limits.allowed:
            return {"type": "integer", "enum": list(limits.allowed)}
        if self.numerals:
            # A string is taken too. A choice of two types would be an empty class to typed generators.
            return {**number, "format": "int64", "description": _AS_DIGITS}
        return number


@dataclass(frozen=True, slots=True)
class DecimalType(InputType):
    """An exact number between `lowest` and `highest` with at most `places` decimal places.

    Callers send it as a JSON number or as a string of digits.
    """

    name: str
    label: str
    attribute_types: frozenset[AttributeType]
    lowest: Decimal
    highest: Decimal
    places: int
    widget: str = "number"
    constraints: frozenset[str] = _CONSTRAINTS
    editor: ClassVar[str] = "number"
    sample: ClassVar[Any] = Decimal("1.5")

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        if isinstance(operator, DateOperator) or operator in PATTERNS or attribute.type not in _EXACT:
            return None
        return 0 if attribute.type in self.attribute_types else 1

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of exact numbers within `limits`. It raises InvalidInput."""
        lowest, highest = self._bounds(limits)
        places = self.places if limits.precision is None else min(self.places, limits.precision)

        def read(raw: Any) -> Decimal:
            value = _exact(raw)
            if not lowest <= value <= highest:
                raise InvalidInput(
                    "out_of_range",
                    Sentence(
                        "Must be between %(lowest)s and %(highest)s.",
                        lowest=format(lowest, "f"),
                        highest=format(highest, "f"),
                    ),
                )
            if _decimal_places(value) > places:
                raise InvalidInput(
                    "too_precise", Sentence("At most %(places)s decimal places.", places=places)
                )
            return value

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        if limits.allowed:
            return {"type": "number", "format": "decimal", "enum": list(limits.allowed)}
        lowest, highest = self._bounds(limits)
        # A string is taken too. A choice of two types would be an empty class to typed generators.
        schema: dict[str, Any] = {
            "type": "number",
            "format": "decimal",
            "minimum": _json_number(lowest),
            "maximum": _json_number(highest),
            "description": _AS_DIGITS,
        }
        takes_example_places = limits.precision is None or limits.precision >= _PLACES_OF_EXAMPLE
        if takes_example_places and lowest <= _SCHEMA_EXAMPLE <= highest:
            schema["examples"] = [_SCHEMA_EXAMPLE]
        return schema

    def _bounds(self, limits: Limits) -> tuple[Decimal, Decimal]:
        """Return the lowest and the highest value: the tighter of the limits' and the type's own."""
        lowest = self.lowest if limits.minimum is None else max(self.lowest, limits.minimum)
        highest = self.highest if limits.maximum is None else min(self.highest, limits.maximum)
        return lowest, highest


@dataclass(frozen=True, slots=True)
class DoubleType(InputType):
    """A floating-point number, for attributes that hold one."""

    name: str = "Double"
    label: str = _("Floating-point number")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.DOUBLE})
    constraints: frozenset[str] = _CONSTRAINTS
    editor: ClassVar[str] = "number"
    sample: ClassVar[Any] = 1.5

    @property
    def widget(self) -> str:
        return "number"

    def from_text(self, text: str) -> Any:
        """Return the number in a text of a query string, and any other text as it is."""
        return Decimal(text) if _NUMBER.fullmatch(text) else text

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of floating-point numbers within `limits`. It raises InvalidInput."""
        lowest, highest = limits.minimum, limits.maximum

        def read(raw: Any) -> float:
            if type(raw) not in (int, float, Decimal):
                raise InvalidInput("wrong_type", Sentence("Must be a number."))
            if (lowest is not None and raw < lowest) or (highest is not None and raw > highest):
                raise InvalidInput("out_of_range", _between(lowest, highest))
            try:
                value = float(raw)
            except OverflowError:
                # A large int raises, where a large Decimal gives infinity.
                value = math.inf
            if not math.isfinite(value):
                raise InvalidInput("out_of_range", Sentence("Is too large for a floating-point number."))
            return value

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        if limits.allowed:
            return {"type": "number", "enum": list(limits.allowed)}
        schema: dict[str, Any] = {"type": "number", "format": "double"}
        if limits.minimum is not None:
            schema["minimum"] = _json_number(limits.minimum)
        if limits.maximum is not None:
            schema["maximum"] = _json_number(limits.maximum)
        return schema


def _exact(raw: Any) -> Decimal:
    """Return the exact number of a JSON number or a string of digits. Raises InvalidInput."""
    raw_type = type(raw)
    if raw_type is Decimal:
        return raw  # type: ignore[no-any-return]
    if raw_type is int:
        return Decimal(raw)
    if raw_type is str and len(raw) <= _LONGEST_NUMERAL and _NUMERAL.fullmatch(raw):
        return Decimal(raw)
    raise InvalidInput("wrong_type", Sentence("Must be a number, or a string of digits."))


def _decimal_places(value: Decimal) -> int:
    """Return the number of decimal places without trailing zeros: 1 for 1.500. The value must be finite."""
    digits, exponent = value.as_tuple()[1:]
    assert isinstance(exponent, int)  # noqa: S101  infinities and NaN are no JSON
    for digit in reversed(digits):
        if digit or exponent >= 0:
            break
        exponent += 1
    return max(0, -exponent)


def _whole_bounds(limits: Limits, lowest: int, highest: int) -> tuple[int, int]:
    """Return the lowest and the highest whole number within `limits`, and within the given bounds."""
    if limits.minimum is not None:
        lowest = max(lowest, math.ceil(limits.minimum))
    if limits.maximum is not None:
        highest = min(highest, math.floor(limits.maximum))
    return lowest, highest


def _json_number(value: Decimal) -> int | Decimal:
    """Return a whole number as an int, so that JSON has 100 and not 100.00."""
    return int(value) if value == value.to_integral_value() else value


def _between(lowest: Decimal | None, highest: Decimal | None) -> Sentence:
    """Return the message for a number that is out of range. At least one bound is not None."""
    if lowest is None:
        return Sentence("Must be at most %(highest)s.", highest=f"{highest:f}")
    if highest is None:
        return Sentence("Must be at least %(lowest)s.", lowest=f"{lowest:f}")
    return Sentence(
        "Must be between %(lowest)s and %(highest)s.", lowest=f"{lowest:f}", highest=f"{highest:f}"
    )


INTEGER = IntegerType("Integer", _("Whole number"), frozenset({AttributeType.INTEGER}), -(2**31), 2**31 - 1)
BIGINT = IntegerType(
    "BigInt", _("Large whole number"), frozenset({AttributeType.BIGINT}), -(2**63), 2**63 - 1, numerals=True
)
DECIMAL = DecimalType(
    "Decimal",
    _("Decimal number"),
    frozenset({AttributeType.DECIMAL}),
    Decimal("-100000000000"),
    Decimal("100000000000"),
    places=10,
)
MONEY = DecimalType(
    "Money",
    _("Amount of money"),
    frozenset({AttributeType.MONEY}),
    Decimal("-922337203685477.5808"),
    Decimal("922337203685477.5807"),
    places=4,
    widget="money",
)
DOUBLE = DoubleType()

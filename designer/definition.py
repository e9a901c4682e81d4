"""What all definitions share: immutable, strict about unknown keys, with a JSON form that omits defaults."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer

_MOST_PLACES = 64

T = TypeVar("T", str, int)


def exact_number(number: Decimal) -> int | float:
    """Return the JSON number of the same value. Raises ValueError when readers of JSON would change its
    digits, or for more than 64 places.
    """
    if not number.is_finite() or abs(number.adjusted()) > _MOST_PLACES:
        raise ValueError(f"{number} is no number of at most {_MOST_PLACES} digits")
    if number == number.to_integral_value():
        return int(number)
    nearest = float(number)
    if Decimal(repr(nearest)) != number:
        raise ValueError(f'{number} has too many digits for a JSON number: write it as text, "{number}"')
    return nearest


def json_numbers(value: Any) -> Any:
    """Return a JSON value with JSON numbers in place of Decimals, so that it can be written as text.

    Raises ValueError as `exact_number`.
    """
    if isinstance(value, Decimal):
        return exact_number(value)
    if isinstance(value, (list, tuple)):
        return [json_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: json_numbers(item) for key, item in value.items()}
    return value


# A value as JSON has it; fractions are Decimals, so that none passes through a float.
JsonValue: TypeAlias = Annotated[Any, PlainSerializer(json_numbers, when_used="json")]


def in_one_order(items: tuple[T, ...]) -> tuple[T, ...]:
    """Return the items sorted and without duplicates, so that equal sets are equal tuples."""
    return tuple(sorted(set(items)))


# Items whose order means nothing, such as roles. They are sorted, because databases and authors order them
# differently, and no version should call that a change.
SetOf: TypeAlias = Annotated[tuple[T, ...], AfterValidator(in_one_order)]


class Definition(BaseModel):
    """A value of the configuration: immutable, and equal to another with the same content.

    Making one from data raises pydantic's ValidationError for a wrong type, an unknown key, or a value that
    a validator refuses.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False, str_strip_whitespace=False)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form. Values that equal their defaults are left out, so that documents stay
        readable.
        """
        return self.model_dump(mode="json", exclude_defaults=True)

"""Checks a value against its attribute: lengths, ranges, decimal places, options, targets."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from crmclient.errors import (
    InvalidRecord,
    InvalidValue,
    MissingRequired,
    OutOfRange,
    TooLong,
    UnknownOption,
    UnknownTarget,
    WrongType,
)
from crmclient.metadata import Attribute, AttributeType, OptionSet
from crmclient.parties import LONGEST_ADDRESS
from crmclient.text import is_storable
from crmclient.values import Party, Reference

LONGEST_FILE_NAME: Final = 255
LONGEST_CONTENT_TYPE: Final = 256

Options: TypeAlias = Callable[[Attribute], OptionSet | None]
"""Finds the option set of a choice; None where it may not be read, so that only the platform can check."""


def check(attribute: Attribute, value: Any, options: Options) -> None:
    """Raise an InvalidValue if the attribute does not allow `value`, whose type has been checked."""
    limit = _LIMITS.get(attribute.type)
    if limit is not None:
        limit(attribute, value, options)


def check_file(entity: str, attribute: str, file_name: str, content_type: str) -> None:
    """Raise InvalidRecord for a file name or a content type that no file can have."""
    problem: InvalidValue | None = None
    if not file_name:
        problem = MissingRequired(attribute, "A file needs a name.")
    elif len(file_name) > LONGEST_FILE_NAME:
        problem = TooLong(attribute, f"A file name of at most {LONGEST_FILE_NAME} characters.")
    elif len(content_type) > LONGEST_CONTENT_TYPE:
        problem = TooLong(attribute, f"A content type of at most {LONGEST_CONTENT_TYPE} characters.")
    elif not (is_storable(file_name) and is_storable(content_type)):
        problem = WrongType(attribute, "The file's name holds a character that cannot be stored.")
    if problem is not None:
        raise InvalidRecord(entity, [problem])


def wrong_value(attribute: str, error: TypeError | ValueError) -> InvalidValue:
    """Return a TypeError or ValueError of a value check as the platform's error."""
    # Only the first letter is changed: `capitalize` would write the others small.
    message = f"{str(error)[:1].upper()}{str(error)[1:]}."
    return WrongType(attribute, message) if isinstance(error, TypeError) else OutOfRange(attribute, message)


def decimal_places(value: Decimal) -> int:
    """Return the number of decimal places that `value` needs, without trailing zeros."""
    _, digits, exponent = value.as_tuple()
    # The exponent of an infinite value, or of one that is no number, is a letter.
    if not isinstance(exponent, int) or exponent >= 0:
        return 0
    if digits[-1]:
        return -exponent
    # The trailing zeros, as far as they are decimal places.
    zeros = 0
    for digit in reversed(digits):
        if digit or zeros == -exponent:
            break
        zeros += 1
    # Zero has one digit however it is written: 0.00 needs no decimal places.
    return max(0, -exponent - zeros) if any(digits) else 0


def _check_length(attribute: Attribute, value: str, _: Options) -> None:
    """Raise TooLong for a text of too many characters."""
    if attribute.max_length is not None and len(value) > attribute.max_length:
        raise TooLong(attribute.logical_name, f"At most {attribute.max_length} characters.")


def _check_range(attribute: Attribute, value: int | float | Decimal, _: Options) -> None:
    """Raise OutOfRange for a number below the attribute's minimum or above its maximum."""
    if attribute.minimum is not None and value < attribute.minimum:
        raise OutOfRange(attribute.logical_name, f"At least {attribute.minimum}.")
    if attribute.maximum is not None and value > attribute.maximum:
        raise OutOfRange(attribute.logical_name, f"At most {attribute.maximum}.")


def _check_exact_range(attribute: Attribute, value: Decimal | int, options: Options) -> None:
    """Raise OutOfRange for a number with too many decimal places, or outside of the attribute's range."""
    if attribute.precision is not None and decimal_places(Decimal(value)) > attribute.precision:
        raise OutOfRange(attribute.logical_name, f"At most {attribute.precision} decimal places.")
    _check_range(attribute, value, options)


def _check_option(attribute: Attribute, value: int, options: Options) -> None:
    """Raise UnknownOption for a number that is none of the attribute's options."""
    if not _has_option(attribute, value, options):
        raise UnknownOption(attribute.logical_name, f"{value} is none of the options.")


def _check_options(attribute: Attribute, value: tuple[int, ...], options: Options) -> None:
    """Raise UnknownOption for the first number that is none of the attribute's options."""
    unknown = [item for item in value if not _has_option(attribute, item, options)]
    if unknown:
        raise UnknownOption(attribute.logical_name, f"{unknown[0]} is none of the options.")


def _check_target(attribute: Attribute, value: Any, _: Options) -> None:
    """Raise WrongType for what is no reference, and UnknownTarget for one to an entity that the lookup does
    not take.
    """
    if not isinstance(value, Reference):
        raise WrongType(attribute.logical_name, "A reference is needed.")
    if value.entity not in attribute.targets:
        allowed = " or ".join(attribute.targets)
        raise UnknownTarget(attribute.logical_name, f"It points at {allowed}, not at {value.entity}.")


def _check_parties(attribute: Attribute, value: tuple[Party, ...], options: Options) -> None:
    """Raise an InvalidValue for the first party that the list cannot hold."""
    name = attribute.logical_name
    for party in value:
        if party.reference is not None:
            _check_target(attribute, party.reference, options)
        elif not party.address:
            raise WrongType(name, "A party is a record or an address.")
        elif not attribute.takes_addresses:
            raise WrongType(name, "A party is a record: an address alone is for e-mails.")
        if party.address is not None and not is_storable(party.address):
            raise WrongType(name, "The address holds a character that cannot be stored.")
        if party.address is not None and len(party.address) > LONGEST_ADDRESS:
            raise TooLong(name, f"An address has at most {LONGEST_ADDRESS} characters.")


def _has_option(attribute: Attribute, value: int, options: Options) -> bool:
    option_set = options(attribute)
    return option_set is None or any(option.value == value for option in option_set.options)


_LIMITS: Final[dict[AttributeType, Callable[[Attribute, Any, Options], None]]] = {
    AttributeType.STRING: _check_length,
    AttributeType.MEMO: _check_length,
    AttributeType.INTEGER: _check_range,
    AttributeType.BIGINT: _check_range,
    AttributeType.DOUBLE: _check_range,
    AttributeType.DECIMAL: _check_exact_range,
    AttributeType.MONEY: _check_exact_range,
    AttributeType.PICKLIST: _check_option,
    AttributeType.STATE: _check_option,
    AttributeType.STATUS: _check_option,
    AttributeType.MULTISELECT: _check_options,
    AttributeType.LOOKUP: _check_target,
    AttributeType.CUSTOMER: _check_target,
    AttributeType.OWNER: _check_target,
    AttributeType.PARTYLIST: _check_parties,
}

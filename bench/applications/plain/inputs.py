"""Checks the inputs of an account, and finds all mistakes before it says no."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import jiter
from django.db import connection

from bench.applications.plain.answers import Refusal
from bench.applications.problems import field_error
from bench.applications.surroundings import INDUSTRIES, MONEY_PLACES, MONEY_UNITS

MOST_UNITS = 2**63 - 1
CONTACT_EXISTS = "SELECT 1 FROM contact WHERE id = %s"


@dataclass(frozen=True, slots=True)
class Account:
    """The columns' values in the order of CHECKS: revenue in ten-thousandths."""

    name: str
    phone: str | None
    revenue: int | None
    industry: int | None
    primary_contact: uuid.UUID | None


class Wrong(Exception):
    """`args` are code and message."""


def account_of(body: bytes) -> Account:
    return Account(*_checked(_object(body), CHECKS.keys()))


def change_of(body: bytes) -> dict[str, Any]:
    """The values that were sent, by input."""
    values = _object(body)
    sent = [name for name in CHECKS if name in values]
    return dict(zip(sent, _checked(values, sent), strict=True))


def _object(body: bytes) -> dict[str, Any]:
    try:
        values = jiter.from_json(body, allow_inf_nan=False, float_mode="decimal", catch_duplicate_keys=True)
    except ValueError as error:
        raise Refusal(400, "malformed", f"The body is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise Refusal(400, "malformed", "The body must be an object.")
    return values


def _checked(values: dict[str, Any], names: Iterable[str]) -> list[Any]:
    """The values of `names`, each None where it is absent."""
    errors = [field_error(name, "unknown", "No such input.") for name in values.keys() - CHECKS.keys()]
    checked = []
    for name in names:
        try:
            checked.append(CHECKS[name](values.get(name)))
        except Wrong as wrong:
            errors.append(field_error(name, *wrong.args))
    if errors:
        raise Refusal(400, "invalid", "The inputs are not valid.", errors)
    return checked


def _text(value: Any, longest: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or "\x00" in value:
        raise Wrong("invalid", "Text is needed.")
    if len(value) > longest:
        raise Wrong("too_long", f"At most {longest} characters.")
    return value


def _name(value: Any) -> str | None:
    text = _text(value, 160)
    if not text or text.isspace():
        raise Wrong("required", "This input is required.")
    return text


def _phone(value: Any) -> str | None:
    return _text(value, 50)


def _revenue(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise Wrong("invalid", "A number is needed.")
    try:
        number = Decimal(value)
    except InvalidOperation as error:
        raise Wrong("invalid", "A number is needed.") from error
    if not number.is_finite() or not 0 <= number <= Decimal(MOST_UNITS).scaleb(-MONEY_PLACES):
        raise Wrong("out_of_range", "The number is out of range.")
    units = number * MONEY_UNITS
    if units != int(units):
        raise Wrong("too_precise", f"At most {MONEY_PLACES} decimal places.")
    return int(units)


def _industry(value: Any) -> int | None:
    if value is not None and (type(value) is not int or value not in INDUSTRIES):
        raise Wrong("invalid_choice", "Not one of the options.")
    return value


def _contact(value: Any) -> uuid.UUID | None:
    if value is None:
        return None
    try:
        key = uuid.UUID(value)
    except (ValueError, AttributeError, TypeError) as error:
        raise Wrong("invalid", "A GUID is needed.") from error
    with connection.cursor() as cursor:
        cursor.execute(CONTACT_EXISTS, [key if connection.features.has_native_uuid_field else key.hex])
        if cursor.fetchone() is None:
            raise Wrong("not_found", "No such contact.")
    return key


CHECKS = {
    "name": _name,
    "phone": _phone,
    "revenue": _revenue,
    "industry": _industry,
    "primaryContactId": _contact,
}

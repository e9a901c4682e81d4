"""Exact numbers on databases that have none.

SQLite knows 64-bit integers and floats. Money is kept as an integer of ten-thousandths, whose range is
exactly the platform's (922,337,203,685,477.5807 is 2**63 - 1). A Decimal, with ten places, needs 22 digits:
it is kept as text of fixed width whose binary order is the numbers' order. No step uses the caller's
decimal context, which may round.
"""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation

MONEY_PLACES = 4
DECIMAL_PLACES = 10

_EXACT = Context(prec=100, traps=[Inexact, InvalidOperation])
ORDERED_WIDTH = 24
ORDERED_NINES = 10**ORDERED_WIDTH - 1


def scaled(value: Decimal, places: int) -> int:
    """Return `value` times ten to the power of `places`. Raises ValueError if that is not a whole number."""
    try:
        moved = value.scaleb(places, _EXACT)
        rounded = moved.to_integral_value(context=_EXACT)
        exact = rounded == moved
    except (Inexact, InvalidOperation):
        exact = False
    if not exact:
        raise ValueError(f"at most {places} decimal places are kept")
    return int(rounded)


def unscaled(value: int, places: int) -> Decimal:
    """Return the inverse of `scaled`, with exactly `places` places."""
    return Decimal(value).scaleb(-places, _EXACT)


def ordered_text(value: Decimal) -> str:
    """Return a Decimal as text that sorts like the number.

    The text has a sign digit (1, or 0 for a negative number), then 24 digits: the number without its point.
    A negative number n has the digits of ORDERED_NINES + n. Raises ValueError for a number out of range, or
    with more than ten places.
    """
    number = scaled(value, DECIMAL_PLACES)
    if abs(number) > ORDERED_NINES:
        raise ValueError("the number is out of range")
    if number >= 0:
        return f"1{number:0{ORDERED_WIDTH}d}"
    return f"0{ORDERED_NINES + number:0{ORDERED_WIDTH}d}"


def from_ordered_text(text: str) -> Decimal:
    number = int(text[1:])
    return unscaled(number if text[0] == "1" else number - ORDERED_NINES, DECIMAL_PLACES)


def money_quantum(value: Decimal) -> Decimal:
    """Return the amount with exactly four places. Raises ValueError when it needs more."""
    return unscaled(scaled(value, MONEY_PLACES), MONEY_PLACES)


def decimal_quantum(value: Decimal) -> Decimal:
    """Return the number with exactly ten places. Raises ValueError when it needs more."""
    return unscaled(scaled(value, DECIMAL_PLACES), DECIMAL_PLACES)

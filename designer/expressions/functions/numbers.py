"""Exact arithmetic: numbers go in, Money and Decimal as text of digits, and text of digits comes out."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

from designer.expressions.functions.arguments import MOST_DIGITS, exact, whole
from designer.sentences import Sentence as _

MOST_PLACES = 20
# Wide enough for any product of two numbers that come in: nothing is rounded but where places are named.
WIDE = Context(prec=4 * MOST_DIGITS + 2)


def add(first: Any, second: Any, *more: Any) -> str:
    """Return the exact sum, as text of digits."""
    return plain_digits(reduce(WIDE.add, (exact("add", value) for value in (first, second, *more))))


def sub(first: Any, second: Any) -> str:
    """Return the exact difference, as text of digits."""
    return plain_digits(WIDE.subtract(exact("sub", first), exact("sub", second)))


def mul(first: Any, second: Any, *more: Any) -> str:
    """Return the exact product, as text of digits. Raises ValueError when it has too many of them."""
    product = exact("mul", first)
    for value in (second, *more):
        # `plain_digits` refuses a product with too many digits before the next factor makes more of them.
        product = Decimal(plain_digits(WIDE.multiply(product, exact("mul", value))))
    return plain_digits(product)


def div(first: Any, second: Any, places: Any) -> str:
    """Return the quotient, rounded half up to `places`."""
    divisor = exact("div", second)
    if not divisor:
        raise ValueError(_("div cannot divide by 0"))
    scale = 10 ** whole("div", _("decimal places"), places, 0, MOST_PLACES)
    # Fractions, because a decimal quotient would be rounded twice.
    scaled = Fraction(exact("div", first)) / Fraction(divisor) * scale
    # The whole number nearest to |scaled|, half up: the floor of |scaled| + 1/2.
    magnitude = (2 * abs(scaled).numerator + abs(scaled).denominator) // (2 * abs(scaled).denominator)
    return plain_digits(Decimal(magnitude if scaled >= 0 else -magnitude).scaleb(-places, WIDE))


def rounded(number: Any, places: Any = 0) -> str:
    """Return the number, rounded half up to `places`."""
    exact_number = exact("round", number)
    return plain_digits(half_up(exact_number, whole("round", _("decimal places"), places, 0, MOST_PLACES)))


def num(value: Any) -> float:
    """Return a floating-point number, for comparisons and arithmetic that need not be exact."""
    return float(exact("num", value))


def compare(first: Any, second: Any) -> int:
    """Return -1, 0 or 1 when `first` is less than, equal to or greater than `second`, exactly."""
    return int(exact("compare", first).compare(exact("compare", second), WIDE))


def half_up(number: Decimal, places: int) -> Decimal:
    """Return the number with so many decimal places, rounded half away from zero."""
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, WIDE)


def plain_digits(number: Decimal) -> str:
    """Return the number in plain digits. Raises ValueError for more than MOST_DIGITS."""
    # Zero may be negative.
    text = format(number if number else abs(number), "f")
    if sum(map(str.isdigit, text)) > MOST_DIGITS:
        raise ValueError(_("the number would have more than %(most)s digits", most=MOST_DIGITS))
    return text

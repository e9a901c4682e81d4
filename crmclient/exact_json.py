"""JSON without loss: fractions are Decimal in both directions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import jiter
import orjson


def parse(raw: bytes) -> Any:
    """Parse JSON with exact decimals. Raises ValueError for wrong JSON, and for a key that comes twice."""
    return jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="decimal")


def render(value: Any) -> bytes:
    """Return a value as JSON, with exact decimals. Raises TypeError for a type that JSON cannot hold."""
    return orjson.dumps(value, default=_decimal_as_json)


def _decimal_as_json(value: object) -> orjson.Fragment:
    """Return the JSON of a Decimal, which orjson does not know. Raises TypeError for any other type."""
    if isinstance(value, Decimal):
        # Never with an exponent, as `str` may write it.
        return orjson.Fragment(f"{value:f}")
    raise TypeError(type(value).__name__)

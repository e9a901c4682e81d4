"""Values in JSON form, as people type them into one line."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import jiter

from designer.definition import exact_number
from designer.models.fields import ExactJSONEncoder
from designer.types import InputType


def typed(text: str, kind: InputType | None) -> Any:
    """Return the value of a text for an input type; None for an empty text.

    Text that is not JSON is kept as text: if that is wrong, readiness says so and no typing is lost.
    """
    if not text:
        return None
    if kind is not None and kind.is_textual:
        return text
    try:
        value = jiter.from_json(text.encode(), allow_inf_nan=False, float_mode="decimal")
    except ValueError:
        return text
    return text if _loses_digits(value) else value


def shown(value: Any) -> str:
    """Return the text from which `typed` returns `value`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, cls=ExactJSONEncoder, ensure_ascii=False)


def _loses_digits(value: Any) -> bool:
    if not isinstance(value, Decimal):
        return False
    try:
        exact_number(value)
    except ValueError:
        return True
    return False

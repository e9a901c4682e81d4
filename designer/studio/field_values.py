"""Values in JSON form, as people type them into one line."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import jiter

from designer.definition import exact_number
from designer.models.fields import ExactJSONEncoder
from designer.types import InputType


def typed_value(text: str, input_type: InputType | None, *, takes_list: bool = False) -> Any:
    """Return the value that a typed text means for an input of `input_type`; None for an empty text.

    Text that is not JSON is the value itself. Where a text is wrong, readiness says so, and what was typed is
    not lost. Without an `input_type`, any JSON is read. `takes_list`: callers send a list of values, so that
    the array of a list is read for every type.
    """
    if not text:
        return None
    is_array = takes_list and text.lstrip().startswith("[")
    if input_type is not None and input_type.is_textual and not is_array:
        return text
    try:
        value = jiter.from_json(text.encode(), allow_inf_nan=False, float_mode="decimal")
    except ValueError:
        return text
    return text if _loses_digits(value) else value


def value_as_typed(value: Any) -> str:
    """Return the text from which `typed_value` makes `value`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, cls=ExactJSONEncoder, ensure_ascii=False)


def _loses_digits(value: Any) -> bool:
    """Return whether `value` is a decimal number that cannot be stored with all its digits."""
    if not isinstance(value, Decimal):
        return False
    try:
        exact_number(value)
    except ValueError:
        return True
    return False

"""Values in JSON form, as people type them into one line."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import jiter

from crmclient.text import is_storable
from designer.definition import exact_number
from designer.models.fields import ExactJSONEncoder
from designer.types import InputType


def typed_value(text: str, input_type: InputType | None, *, takes_list: bool = False) -> Any:
    """Return the value that a typed text means for an input of `input_type`; None for an empty text.

    Text that is not JSON is the value itself, and so is JSON that not every database can store. Where a text
    is wrong, readiness says so, and what was typed is not lost. Without an `input_type`, any JSON is read.
    `takes_list`: callers send a list of values, so that the array of a list is read for every type.
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
    return value if can_be_stored(value) else text


def value_as_typed(value: Any) -> str:
    """Return the text from which `typed_value` makes `value`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, cls=ExactJSONEncoder, ensure_ascii=False)


def can_be_stored(value: Any) -> bool:
    """Return whether every database takes a JSON value, with all its digits and characters."""
    match value:
        case str():
            return is_storable(value)
        case Decimal():
            try:
                exact_number(value)
            except ValueError:
                return False
            return True
        case float():
            return math.isfinite(value)
        case list():
            return all(can_be_stored(item) for item in value)
        case dict():
            return all(is_storable(key) and can_be_stored(item) for key, item in value.items())
    return True

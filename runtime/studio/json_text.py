"""Values as JSON for people to read."""

from __future__ import annotations

from typing import Any

import orjson

from runtime.http.rendering import render


def readable(value: Any) -> str:
    """Return a value as indented JSON, with exact numbers as in answers; empty for None."""
    if value is None:
        return ""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=_exact).decode()


def _exact(unusual: Any) -> orjson.Fragment:
    """Return a value that orjson does not know, such as a Decimal, as answers have it."""
    return orjson.Fragment(render(unusual))

"""Values as JSON for people to read."""

from __future__ import annotations

from typing import Any

import orjson

from runtime.http.rendering import dump, render


def readable(value: Any) -> str:
    """Return a value as indented JSON, with exact numbers as in answers; empty for None.

    What answers leave out of a platform's values is here, too, such as the entity of a record.
    """
    return "" if value is None else dump(value, default=_exact, options=orjson.OPT_INDENT_2).decode()


def _exact(unusual: Any) -> orjson.Fragment:
    """Return a value that orjson does not know, such as a Decimal, as answers have it."""
    return orjson.Fragment(render(unusual))

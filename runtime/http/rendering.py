"""Values as JSON bytes, exactly.

Money and Decimal go out as JSON numbers with the digits they have, never through a float; DateTime as UTC
`…Z` in whole seconds.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import orjson
from django.http import HttpResponse

from crmclient import FileInfo, Reference

JSON = "application/json"
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_PASSTHROUGH_DATACLASS


def render(value: Any) -> bytes:
    """The JSON text of `value`, which may hold any `crmclient` value."""
    return orjson.dumps(value, default=_unusual, option=_OPTIONS)


def json_response(value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(render(value), status=status, content_type=JSON, headers=headers)


def _unusual(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f").encode())
    if isinstance(value, Reference):
        return {"id": value.id, "name": value.name}
    if isinstance(value, FileInfo):
        return {"id": value.id, "fileName": value.file_name, "size": value.size}
    raise TypeError(f"{type(value).__name__} has no JSON form")

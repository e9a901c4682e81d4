"""JSON without loss: decimals stay decimals, a key stands once, and there is no NaN."""

from __future__ import annotations

import codecs
import json
from decimal import Decimal
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class ExactJSONParser(JSONParser):
    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return json.load(
                codecs.getreader("utf-8")(stream),
                parse_float=Decimal,
                parse_constant=_refuse_constant,
                object_pairs_hook=_unique,
            )
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key stands twice")
    return values

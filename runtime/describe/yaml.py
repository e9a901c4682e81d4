"""JSON as YAML, for people who read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import yaml

# Written in C where libyaml is there: a tenth of the time.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# Nobody reads more than that in one piece, and laying it out would take minutes of everybody's time.
_LONGEST_LAID_OUT = 2 * 1024 * 1024
# What JSON holds as it is and YAML does not, or takes for a line break.
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def as_yaml(document: Mapping[str, Any]) -> bytes:
    """`document` is for orjson. A long one has an operation or a component a line, as JSON, which is YAML."""
    content = orjson.dumps(document)
    if len(content) > _LONGEST_LAID_OUT:
        text = _SPECIAL.sub(_escaped, "".join(_lines(document, 0)))
    else:
        text = yaml.dump(
            orjson.loads(content), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110
        )
    return text.encode()


# components, schemas, the name of one: what is under that is one line.
_DEPTH = 3


def _lines(value: object, depth: int) -> Iterator[str]:
    if not isinstance(value, dict) or not value or depth == _DEPTH:
        yield f" {orjson.dumps(value).decode()}\n"
        return
    if depth:
        yield "\n"
    for key, item in value.items():
        yield f"{'  ' * depth}{orjson.dumps(key).decode()}:"
        yield from _lines(item, depth + 1)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"

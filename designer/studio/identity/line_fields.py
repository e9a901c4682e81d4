"""Form fields for lists that people type one item to a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

_MOST_LINES = 500

# A text in JSON quotes, where a text of a line begins, with the blanks before it.
_QUOTED = re.compile(r'((?:^|(?<=[=,]))\s*)("(?:[^"\\]|\\.)*")(?=\s*(?:[=,]|$))')
# `str.splitlines` ends a line at these, too, and JSON writes them as they are.
_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")


class LinesField(forms.CharField):
    """A list of texts, one to a line. A text that would be read differently is in JSON quotes."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "strip": True, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(self.line_of, value)) if isinstance(value, (list, tuple)) else value

    def to_python(self, value: Any) -> Any:
        lines = [line.strip() for line in str(super().to_python(value) or "").splitlines() if line.strip()]
        if len(lines) > _MOST_LINES:
            raise ValidationError(_("Write at most %(count)s lines.") % {"count": _MOST_LINES})
        return [self.item_of(line) for line in lines]

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool((initial or []) != self.to_python(data))
        except ValidationError:
            return True

    def line_of(self, item: Any) -> str:
        return _written(str(item))

    def item_of(self, line: str) -> Any:
        return _read(line)


class PairsField(LinesField):
    """A list of objects with two texts each, one object to a line: `left = right`."""

    def __init__(self, left: str, right: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._left, self._right = left, right

    def line_of(self, item: Any) -> str:
        return f"{_written(item[self._left])} = {_written(item[self._right], ' = ')}"

    def item_of(self, line: str) -> Any:
        left, right = _parts(line)
        if not left or not right:
            raise ValidationError(_("Write “%(line)s” with a = between two texts.") % {"line": line})
        return {self._left: _read(left), self._right: _read(right)}


class RequiredClaimsField(LinesField):
    """A list of required claims, one to a line: `tid = a, b`, or only a path for a claim of any value."""

    def line_of(self, item: Any) -> str:
        claim = _written(item["claim"], "=")
        values = ", ".join(_written(value, ",", " = ") for value in item.get("values", ()))
        return f"{claim} = {values}" if values else claim

    def item_of(self, line: str) -> Any:
        claim, values = _parts(line) if "=" in _without_quoted(line) else (line, "")
        return {"claim": _read(claim), "values": sorted({_read(value) for value in _between_commas(values)})}


def _written(text: str, *separators: str) -> str:
    """Return the text for a line: in JSON quotes if blanks, a quote or one of `separators` would be lost."""
    is_plain = text and text == text.strip() and len(text.splitlines()) == 1 and '"' not in text
    if is_plain and not any(separator in f" {text} " for separator in separators):
        return text
    in_json = json.dumps(text, ensure_ascii=False)
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", in_json)


def _read(text: str) -> str:
    """Return the text from which `_written` returns `text`. What is not in JSON quotes stays as it is."""
    if not _QUOTED.fullmatch(text):
        return text
    try:
        value = str(json.loads(text))
        # Not every database can store a NUL character, and none half of a surrogate pair.
        return text if b"\0" in value.encode() else value
    except ValueError:
        return text


def _without_quoted(line: str) -> str:
    """Return the line with other characters in place of its quoted texts. It is as long as before."""
    return _QUOTED.sub(lambda found: found[1] + "x" * len(found[2]), line)


def _parts(line: str) -> tuple[str, str]:
    """Return the texts before and after the last ` = `, or the last `=` where none has spaces around it."""
    outside = _without_quoted(line)
    separator = " = " if " = " in outside else "="
    at = outside.rfind(separator)
    return ("", line) if at < 0 else (line[:at].strip(), line[at + len(separator) :].strip())


def _between_commas(line: str) -> list[str]:
    """Return the texts between the commas of the line that stand in no quotes, without empty ones."""
    starts = [0, *(found.end() for found in re.finditer(",", _without_quoted(line)))]
    ends = [*(start - 1 for start in starts[1:]), len(line)]
    texts = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [text for text in texts if text]


def as_field(make: Callable[..., LinesField], shown: Any) -> LinesField:
    """Return a field made by `make`, with the label, help and initial value of the field `shown`."""
    return make(label=shown.label, help_text=shown.help_text, initial=shown.initial)

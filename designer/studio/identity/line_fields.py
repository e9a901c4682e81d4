"""Form fields for lists that people type one item to a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

_MOST_LINES = 500

# A text in JSON quotes, where a text of a line begins, with the blanks before it.
_QUOTED = re.compile(r'((?:^|(?<=[=,]))\s*)("(?:[^"\\]|\\.)*")(?=\s*(?:[=,]|$))')
# `str.splitlines` ends a line at these, too, and JSON writes them as they are.
_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")


class LinesField(forms.CharField):
    """A list of texts, one to a line. A text that would be read differently is in JSON quotes."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
    # When to use quotes, for people.
    quotes_help: ClassVar[str | Promise] = gettext_lazy(
        "Put a text that begins or ends with a blank in double quotes."
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "strip": True, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(self.line_of, value)) if isinstance(value, (list, tuple)) else value

    def to_python(self, value: Any) -> Any:
        """Return the items of the lines. Empty lines are ignored. Raises ValidationError."""
        lines = [line.strip() for line in str(super().to_python(value) or "").splitlines() if line.strip()]
        if len(lines) > _MOST_LINES:
            raise ValidationError(_("Write at most %(count)s lines.") % {"count": _MOST_LINES})
        return [self.item_of(line) for line in lines]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the lines hold other items than the stored list; a line that is refused is a change."""
        try:
            return bool((initial or []) != self.to_python(data))
        except ValidationError:
            return True

    def line_of(self, item: Any) -> str:
        """Return the line that `item_of` reads as `item`."""
        return _quoted_if_needed(str(item))

    def item_of(self, line: str) -> Any:
        """Return the item that a line stands for. Raises ValidationError."""
        return _unquoted(line)


class PairsField(LinesField):
    """A list of objects with two texts each, one object to a line: `left = right`."""

    quotes_help = gettext_lazy(
        'Put a text that contains “ = ” in double quotes, such as "a = b", and a text that '
        "begins or ends with a blank."
    )

    def __init__(self, left: str, right: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._left, self._right = left, right

    def line_of(self, item: Any) -> str:
        # The last “ = ” of a line separates: only the right text must not have one.
        return f"{_quoted_if_needed(item[self._left])} = {_quoted_if_needed(item[self._right], ' = ')}"

    def item_of(self, line: str) -> Any:
        left, right = _left_and_right(line)
        if not left or not right:
            raise ValidationError(_("Write “%(line)s” with a = between two texts.") % {"line": line})
        return {self._left: _unquoted(left), self._right: _unquoted(right)}


class RequiredClaimsField(LinesField):
    """A list of required claims, one to a line: `tid = a, b`, or only a path for a claim of any value."""

    quotes_help = gettext_lazy(
        "Put a value that contains a comma in double quotes, such as groups = "
        '"CN=Portal,OU=Apps", and a text that begins or ends with a blank.'
    )

    def line_of(self, item: Any) -> str:
        claim = _quoted_if_needed(item["claim"], "=")
        values = ", ".join(_quoted_if_needed(value, ",", " = ") for value in item.get("values", ()))
        return f"{claim} = {values}" if values else claim

    def item_of(self, line: str) -> Any:
        # A line without = is a path: `_left_and_right` would return it as the second text.
        claim, values = _left_and_right(line) if "=" in _with_quoted_masked(line) else (line, "")
        # Their order means nothing, and neither does a value that is there twice.
        sorted_values = sorted({_unquoted(value) for value in _split_at_commas(values)})
        return {"claim": _unquoted(claim), "values": sorted_values}


def _quoted_if_needed(text: str, *separators: str) -> str:
    """Return the text for a line: in JSON quotes if it would be read differently without them, because of
    blanks, line ends, quotes, or one of `separators`.
    """
    is_plain = text and text == text.strip() and len(text.splitlines()) == 1 and '"' not in text
    # A text such as “= a” becomes “ = a” on the line.
    if is_plain and not any(separator in f" {text} " for separator in separators):
        return text
    in_json = json.dumps(text, ensure_ascii=False)
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", in_json)


def _unquoted(text: str) -> str:
    """Return the text from which `_quoted_if_needed` made `text`. Without JSON quotes, it is the same."""
    if not _QUOTED.fullmatch(text):
        return text
    try:
        value = str(json.loads(text))
        # Not every database can store a NUL character, and none half of a surrogate pair.
        return text if b"\0" in value.encode() else value
    except ValueError:
        return text


def _with_quoted_masked(line: str) -> str:
    """Return the line with other characters in place of its quoted texts. It is as long as before."""
    return _QUOTED.sub(lambda found: found[1] + "x" * len(found[2]), line)


def _left_and_right(line: str) -> tuple[str, str]:
    """Return the texts before and after the last ` = `, or the last `=` where none has spaces around it.

    Without any, the first text is empty. A separator in quotes does not count.
    """
    outside = _with_quoted_masked(line)
    separator = " = " if " = " in outside else "="
    at = outside.rfind(separator)
    return ("", line) if at < 0 else (line[:at].strip(), line[at + len(separator) :].strip())


def _split_at_commas(line: str) -> list[str]:
    """Return the texts between the commas of the line that stand in no quotes, without empty ones."""
    starts = [0, *(found.end() for found in re.finditer(",", _with_quoted_masked(line)))]
    ends = [*(start - 1 for start in starts[1:]), len(line)]
    texts = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [text for text in texts if text]


def field_like(make: Callable[..., LinesField], original: Any) -> LinesField:
    """Return a field made by `make`, with the label, initial value and help of the field `original`. The help
    also tells when to use quotes.
    """
    field = make(label=original.label, initial=original.initial)
    field.help_text = format_lazy("{} {}", original.help_text, field.quotes_help)
    return field

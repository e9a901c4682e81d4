"""Form fields for lists that people type one item to a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

_MOST_LINES = 500


class LinesField(forms.CharField):
    """A list of texts, one to a line."""

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
        return str(item)

    def item_of(self, line: str) -> Any:
        return line


class PairsField(LinesField):
    """A list of objects with two texts each, one object to a line: `left = right`."""

    def __init__(self, left: str, right: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._left, self._right = left, right

    def line_of(self, item: Any) -> str:
        return f"{item[self._left]} = {item[self._right]}"

    def item_of(self, line: str) -> Any:
        left, right = _parts(line)
        if not left or not right:
            raise ValidationError(_("Write “%(line)s” with a = between two texts.") % {"line": line})
        return {self._left: left, self._right: right}


class RequiredClaimsField(LinesField):
    """A list of required claims, one to a line: `tid = a, b`, or only a path for a claim of any value."""

    def line_of(self, item: Any) -> str:
        values = ", ".join(item.get("values", ()))
        return f"{item['claim']} = {values}" if values else str(item["claim"])

    def item_of(self, line: str) -> Any:
        claim, values = _parts(line) if " = " in line or "=" in line else (line, "")
        return {"claim": claim, "values": sorted({value.strip() for value in values.split(",")} - {""})}


def _parts(line: str) -> tuple[str, str]:
    """Return the texts before and after the last ` = `, or the last `=` where none has spaces around it."""
    left, _separator, right = line.rpartition(" = ") if " = " in line else line.rpartition("=")
    return left.strip(), right.strip()


def as_field(make: Callable[..., LinesField], shown: Any) -> LinesField:
    """Return a field made by `make`, with the label, help and initial value of the field `shown`."""
    return make(label=shown.label, help_text=shown.help_text, initial=shown.initial)

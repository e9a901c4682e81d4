"""Changes of inputs and bindings: what was right to send may be refused now."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from designer.history.effects import Effect, Line
from designer.history.wording.field_wording import (
    FieldWords,
    JsonObject,
    Listed,
    Words,
    changed,
    shown,
    switched,
    told,
    translated,
)

BINDINGS = Listed(
    noun=lambda name: _("attribute “%(name)s”") % {"name": name},
    name=lambda item: item.get("attribute", ""),
    words=Words(),
    added=lambda item: Effect.BEHAVIOUR,
    removed=Effect.BEHAVIOUR,
)


def _bound(label: str, *, greatest: bool) -> FieldWords:
    """Return words for a limit. A tighter limit breaks callers, a looser one is additive."""

    def words(old: Any, new: Any) -> tuple[str, Effect]:
        return f"{_(label)}: {shown(old)} → {shown(new)}", _tightened(old, new, greatest)

    return words


def _tightened(old: Any, new: Any, greatest: bool) -> Effect:
    if new is None:
        return Effect.ADDITIVE
    if old is None:
        return Effect.BREAKING
    # Exact numbers may be texts in JSON.
    before, after = Decimal(str(old)), Decimal(str(new))
    tighter = after < before if greatest else after > before
    return Effect.BREAKING if tighter else Effect.ADDITIVE


def _pattern(old: Any, new: Any) -> tuple[str, Effect]:
    effect = Effect.BREAKING if new else Effect.ADDITIVE
    return _("pattern: %(old)s → %(new)s") % {"old": shown(old), "new": shown(new)}, effect


def _allowed(old: Any, new: Any) -> tuple[str, Effect]:
    before, after = old or [], new or []
    narrowed = bool(after) and (not before or any(value not in after for value in before))
    text = _("allowed values: %(old)s → %(new)s") % {"old": shown(old), "new": shown(new)}
    return text, Effect.BREAKING if narrowed else Effect.ADDITIVE


def _added(item: JsonObject) -> Effect:
    required = item.get("required", False) and item.get("default") is None
    return Effect.BREAKING if required else Effect.ADDITIVE


_INPUTS = Listed(
    noun=lambda name: _("input “%(name)s”") % {"name": name},
    name=lambda item: item.get("name", ""),
    added=_added,
    words=Words(
        {
            "type": changed(gettext_noop("type"), Effect.BREAKING),
            "required": switched(
                gettext_noop("became required"),
                Effect.BREAKING,
                gettext_noop("is no longer required"),
                Effect.ADDITIVE,
            ),
            "nullable": switched(
                gettext_noop("may be null"),
                Effect.ADDITIVE,
                gettext_noop("may no longer be null"),
                Effect.BREAKING,
                default=True,
            ),
            "default": changed(gettext_noop("default"), Effect.BEHAVIOUR),
            "label": changed(gettext_noop("label"), Effect.ADDITIVE),
            "description": told(gettext_noop("description")),
            "translations": translated(gettext_noop("translations")),
            "minimum": _bound(gettext_noop("smallest number"), greatest=False),
            "maximum": _bound(gettext_noop("largest number"), greatest=True),
            "min_length": _bound(gettext_noop("minimum length"), greatest=False),
            "max_length": _bound(gettext_noop("maximum length"), greatest=True),
            "pattern": _pattern,
            "allowed": _allowed,
        }
    ),
)

# Parts of a list input, which are compared by themselves.
_PARTS = ("inputs", "bindings")


def inputs(before: list[JsonObject], after: list[JsonObject], place: str = "") -> Iterator[Line]:
    """Yield the changes of the inputs of an endpoint, or of the records that an input holds.

    `place` stands in front of each line: empty, or the names of the inputs around them.
    """
    for line in _INPUTS.compare(
        [_without_parts(item) for item in before], [_without_parts(item) for item in after]
    ):
        yield Line(f"{place}{line.text}", line.effect)
    before_by_name = {item.get("name"): item for item in before}
    for item in after:
        old = before_by_name.get(item.get("name"))
        if old is not None:
            inside = f"{place}{item.get('name')} › "
            yield from inputs(old.get("inputs", []), item.get("inputs", []), inside)
            for line in BINDINGS.compare(old.get("bindings", []), item.get("bindings", [])):
                yield Line(f"{inside}{line.text}", line.effect)


def _without_parts(item: JsonObject) -> JsonObject:
    return {name: value for name, value in item.items() if name not in _PARTS}

"""Changes of inputs and bindings: what was right to send may be refused now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    shown,
    switched,
    translated,
    with_values,
    without_values,
)

BINDINGS = Listed(
    noun=lambda name: _("attribute “%(name)s”") % {"name": name},
    name=lambda item: item.get("attribute", ""),
    words=Words(),
    added=lambda item: Effect.BEHAVIOUR,
    removed=Effect.BEHAVIOUR,
)


def _limit_words(label: str, *, greatest: bool) -> FieldWords:
    """Return words for a limit. A tighter limit breaks callers, a looser one is additive."""

    def words(old: Any, new: Any) -> tuple[str, Effect]:
        return f"{_(label)}: {shown(old)} → {shown(new)}", _effect_of_limit(old, new, greatest)

    return words


def _effect_of_limit(old: Any, new: Any, greatest: bool) -> Effect:
    """Return the effect of another limit; None is no limit. `greatest`: it limits values from above."""
    if new is None:
        return Effect.ADDITIVE
    if old is None:
        return Effect.BREAKING
    # Exact numbers may be texts in JSON.
    before, after = Decimal(str(old)), Decimal(str(new))
    tighter = after < before if greatest else after > before
    return Effect.BREAKING if tighter else Effect.ADDITIVE


def _words_of_pattern(old: Any, new: Any) -> tuple[str, Effect]:
    """Return the words for another pattern. It may refuse what was accepted, unless it is gone."""
    effect = Effect.BREAKING if new else Effect.ADDITIVE
    return _("pattern: %(old)s → %(new)s") % {"old": shown(old), "new": shown(new)}, effect


def _words_of_allowed(old: Any, new: Any) -> tuple[str, Effect]:
    """Return the words for other allowed values. It breaks callers when a value is
    missing; none allows all.
    """
    before, after = old or [], new or []
    narrowed = bool(after) and (not before or any(value not in after for value in before))
    text = _("allowed values: %(old)s → %(new)s") % {"old": shown(old), "new": shown(new)}
    return text, Effect.BREAKING if narrowed else Effect.ADDITIVE


_FIELDS: dict[str, FieldWords] = {
    "type": with_values(gettext_noop("type"), Effect.BREAKING),
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
    "default": with_values(gettext_noop("default"), Effect.BEHAVIOUR),
    "label": with_values(gettext_noop("label"), Effect.ADDITIVE),
    "description": without_values(gettext_noop("description")),
    "translations": translated(gettext_noop("translations")),
    "minimum": _limit_words(gettext_noop("smallest number"), greatest=False),
    "maximum": _limit_words(gettext_noop("largest number"), greatest=True),
    "min_length": _limit_words(gettext_noop("minimum length"), greatest=False),
    "max_length": _limit_words(gettext_noop("maximum length"), greatest=True),
    "pattern": _words_of_pattern,
    "allowed": _words_of_allowed,
}
# A required input without a default: callers who have left it out must send it now.
_FIELDS_TO_SEND = {**_FIELDS, "default": with_values(gettext_noop("default"), Effect.BREAKING)}


class _InputWords(Words):
    """The words for inputs whose defaults are used."""

    def compare(self, before: JsonObject, after: JsonObject, subject: str = "") -> Iterator[Line]:
        """Yield a line for each changed field. A default that is removed breaks callers if the input must be
        sent now.
        """
        words = Words(_FIELDS_TO_SEND) if _must_be_sent(after) else Words(self.fields)
        return words.compare(before, after, subject)


def _must_be_sent(item: JsonObject) -> bool:
    """Whether calls have to send the input: it is required and has no default."""
    return bool(item.get("required", False)) and item.get("default") is None


_INPUTS = Listed(
    noun=lambda name: _("input “%(name)s”") % {"name": name},
    name=lambda item: item.get("name", ""),
    added=lambda item: Effect.BREAKING if _must_be_sent(item) else Effect.ADDITIVE,
    words=_InputWords(_FIELDS),
)
# The inputs of an update, whose defaults are never used.
_INPUTS_OF_UPDATE = replace(
    _INPUTS,
    added=lambda item: Effect.BREAKING if item.get("required", False) else Effect.ADDITIVE,
    words=Words(_FIELDS),
)

# Parts of a list input, which are compared by themselves.
_PARTS = ("inputs", "bindings")


def inputs(
    before: list[JsonObject], after: list[JsonObject], place: str = "", *, partial: bool = False
) -> Iterator[Line]:
    """Yield the changes of the inputs of an endpoint, or of the records that an input holds.

    `place` stands in front of each line: empty, or the names of the inputs around them. `partial`: the
    endpoint's kind takes no defaults.
    """
    listed = _INPUTS_OF_UPDATE if partial else _INPUTS
    for line in listed.compare(
        [_without_parts(item) for item in before], [_without_parts(item) for item in after]
    ):
        yield Line(f"{place}{line.text}", line.effect)
    before_by_name = {item.get("name"): item for item in before}
    for item in after:
        old = before_by_name.get(item.get("name"))
        if old is not None:
            inside = f"{place}{item.get('name')} › "
            # Without `partial`: an update, too, adds records to its lists, with the defaults of their inputs.
            yield from inputs(old.get("inputs", []), item.get("inputs", []), inside)
            for line in BINDINGS.compare(old.get("bindings", []), item.get("bindings", [])):
                yield Line(f"{inside}{line.text}", line.effect)


def _without_parts(item: JsonObject) -> JsonObject:
    """Return an input without the inputs and bindings of its items."""
    return {name: value for name, value in item.items() if name not in _PARTS}

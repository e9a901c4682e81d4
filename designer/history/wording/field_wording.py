"""Comparing two JSON objects field by field, and their lists item by item."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.utils.translation import gettext as _

from designer.documents.differences import differences
from designer.history.effects import Effect, Line
from designer.languages import language_name
from designer.sentences import said

JsonObject: TypeAlias = dict[str, Any]
# From the field's values before and after (None: its default) to a sentence and its effect.
FieldWords: TypeAlias = Callable[[Any, Any], tuple[str, Effect]]


@dataclass(frozen=True)
class Words:
    """The words for changes of the fields of one kind of object.

    Other fields are described by their difference.
    """

    fields: Mapping[str, FieldWords] = field(default_factory=dict)
    otherwise: Effect = Effect.BEHAVIOUR

    def compare(self, before: JsonObject, after: JsonObject, subject: str = "") -> Iterator[Line]:
        """Yield a line for each field that changed, with `subject` in front."""
        for name in dict.fromkeys((*before, *after)):
            old, new = before.get(name), after.get(name)
            if old == new:
                continue
            if name in self.fields:
                text, effect = self.fields[name](old, new)
                yield Line(f"{subject}{text}", effect)
            else:
                yield from (
                    Line(f"{subject}{text}", self.otherwise) for text in _bare_differences(name, old, new)
                )


@dataclass(frozen=True)
class Listed:
    """The words for changes of a list. `noun` gives the words for an item by its name; `name` gives an item's
    name.

    `added` and `removed` are the effects of an added and of a removed item.
    """

    noun: Callable[[str], str]
    name: Callable[[JsonObject], str]
    words: Words
    added: Callable[[JsonObject], Effect] = lambda item: Effect.ADDITIVE
    removed: Effect = Effect.BREAKING

    def compare(self, before: list[JsonObject], after: list[JsonObject]) -> Iterator[Line]:
        """Yield a line for each item that is added, removed or changed, and one when items changed places."""
        old, new = self._by_name(before), self._by_name(after)
        for name in dict.fromkeys((*old, *new)):
            if name not in old:
                text = _("%(item)s added") % {"item": self.noun(name)}
                yield Line(text, self.added(new[name]))
            elif name not in new:
                yield Line(_("%(item)s removed") % {"item": self.noun(name)}, self.removed)
            else:
                yield from self.words.compare(old[name], new[name], f"{self.noun(name)}: ")
        if [name for name in old if name in new] != [name for name in new if name in old]:
            yield Line(_("%(items)s in another order") % {"items": self.noun("…")}, Effect.ADDITIVE)

    def _by_name(self, items: list[JsonObject]) -> dict[str, JsonObject]:
        return {self.name(item): item for item in items}


def with_values(label: str, effect: Effect) -> FieldWords:
    """Return words for a field that show both values: `label: old → new`."""
    return lambda old, new: (f"{_(label)}: {shown(old)} → {shown(new)}", effect)


def without_values(label: str, effect: Effect = Effect.ADDITIVE) -> FieldWords:
    """Return words for a field with a long text: they say that it changed, and not what it was."""
    return lambda old, new: (_("%(what)s changed") % {"what": _(label)}, effect)


def translated(label: str, effect: Effect = Effect.ADDITIVE) -> FieldWords:
    """Return the words for a change of translated texts: the languages whose texts were added, changed
    or removed.
    """

    def words(old: Any, new: Any) -> tuple[str, Effect]:
        before, after = old or {}, new or {}
        lcids = (lcid for lcid in {*before, *after} if before.get(lcid) != after.get(lcid))
        languages = ", ".join(language_name(int(lcid)) for lcid in sorted(lcids, key=int))
        return _("%(what)s changed: %(languages)s") % {"what": _(label), "languages": languages}, effect

    return words


def switched(
    on: str, on_effect: Effect, off: str, off_effect: Effect, *, default: bool = False
) -> FieldWords:
    """Return the words for a change of a yes/no field.

    `on` and `off` are the words for the new value, with their effects. `default` is the meaning of a missing
    value.
    """

    def words(old: Any, new: Any) -> tuple[str, Effect]:
        return (_(on), on_effect) if (default if new is None else new) else (_(off), off_effect)

    return words


def shown(value: Any) -> str:
    """Return a JSON value as readers see it: a text in quotes, a dash for a missing value, else JSON."""
    if value is None:
        return "–"
    return f"“{value}”" if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _bare_differences(name: str, old: Any, new: Any) -> Iterator[str]:
    """Yield the change of the field `name` as a path with both values, such as `limits.most: 1 → 2`."""
    if not (isinstance(old, (dict, list)) and isinstance(new, (dict, list))):
        yield f"{name}: {shown(old)} → {shown(new)}"
    else:
        yield from map(said, differences(old, new, name))


def row_rule(old: Any, new: Any) -> tuple[str, Effect]:
    """Return words for a change of an endpoint's own row rule; None and empty stand for no row rule."""
    if not old:
        return _("row rule added: callers may reach fewer records"), Effect.BEHAVIOUR
    if not new:
        # That of the entity still holds, if it has one.
        return _("the endpoint's own row rule removed: callers may reach more records"), Effect.BEHAVIOUR
    return _("row rule changed"), Effect.BEHAVIOUR

"""Modules and the entities that they expose."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_noop

from designer.history.effects import Effect, Line
from designer.history.wording.fields import JsonObject, Words, changed, told
from designer.history.wording.row_rules import ROW_RULE

_DOCUMENTATION = {
    "title": changed(gettext_noop("title"), Effect.ADDITIVE),
    "description": told(gettext_noop("description")),
}
_MODULE = Words(_DOCUMENTATION)
_ENTITY = Words(
    {
        **_DOCUMENTATION,
        "entity": changed(gettext_noop("entity"), Effect.BREAKING),
        "row_rule": ROW_RULE,
    }
)


def module(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    return _MODULE.compare(before, after)


def entity(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    return _ENTITY.compare(before, after)

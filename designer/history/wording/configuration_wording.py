"""Changes of roles, user properties, modules and exposed entities."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from designer.history.effects import Effect, Line
from designer.history.wording.field_wording import ROW_RULE, JsonObject, Listed, Words, changed, told

_ROLE = Words(
    {
        "title": changed(gettext_noop("title"), Effect.ADDITIVE),
        "description": told(gettext_noop("description")),
        # They describe, and nothing enforces them.
        "platform_roles": changed(gettext_noop("roles of the platform"), Effect.ADDITIVE),
    }
)
_PROPERTY = Words({"description": told(gettext_noop("description"))})
_COLUMNS = Listed(
    noun=lambda name: _("column “%(name)s”") % {"name": name},
    name=lambda item: item.get("name") or item.get("attribute", ""),
    words=Words({"attribute": changed(gettext_noop("attribute"), Effect.BREAKING)}),
)


def role(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    return _ROLE.compare(before, after)


def user_property(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    yield from _PROPERTY.compare(_own(before), _own(after))
    yield from _COLUMNS.compare(before.get("columns", []), after.get("columns", []))


def _own(known: JsonObject) -> JsonObject:
    return {name: value for name, value in known.items() if name != "columns"}


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

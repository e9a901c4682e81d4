"""Changes of roles, user properties, modules and exposed entities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from designer.definitions.row_rules import entries_in_json
from designer.history.effects import Effect, Line
from designer.history.wording.field_wording import (
    JsonObject,
    Listed,
    Words,
    translated,
    with_values,
    without_values,
)

_ROLE = Words(
    {
        "title": with_values(gettext_noop("title"), Effect.ADDITIVE),
        "description": without_values(gettext_noop("description")),
        # They describe, and nothing enforces them.
        "platform_roles": with_values(gettext_noop("roles of the platform"), Effect.ADDITIVE),
        "rate": with_values(gettext_noop("requests a minute"), Effect.BEHAVIOUR),
    }
)
_CALLER_TYPE = Words(
    {
        "title": with_values(gettext_noop("title"), Effect.ADDITIVE),
        "description": without_values(gettext_noop("description")),
        # All that its callers are known by is in other records.
        "entity": with_values(gettext_noop("entity"), Effect.BREAKING),
    }
)
_PROPERTY = Words({"description": without_values(gettext_noop("description"))})
_COLUMNS = Listed(
    noun=lambda name: _("column “%(name)s”") % {"name": name},
    name=lambda item: item.get("name") or item.get("attribute", ""),
    words=Words({"attribute": with_values(gettext_noop("attribute"), Effect.BREAKING)}),
)


def role(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield a line for each change of a role."""
    return _ROLE.compare(before, after)


def caller_type(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield a line for each change of a caller type."""
    return _CALLER_TYPE.compare(before, after)


def user_property(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield a line for each change of a user property and of its columns."""
    yield from _PROPERTY.compare(_without_columns(before), _without_columns(after))
    yield from _COLUMNS.compare(before.get("columns", []), after.get("columns", []))


def _without_columns(content: JsonObject) -> JsonObject:
    return {name: value for name, value in content.items() if name != "columns"}


_DOCUMENTATION = {
    "title": with_values(gettext_noop("title"), Effect.ADDITIVE),
    "description": without_values(gettext_noop("description")),
}
_MODULE = Words({**_DOCUMENTATION, "translations": translated(gettext_noop("translations"))})
_ENTITY = Words(
    {
        **_DOCUMENTATION,
        "entity": with_values(gettext_noop("entity"), Effect.BREAKING),
    }
)


def module(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield a line for each change of a module."""
    return _MODULE.compare(before, after)


def entity(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield a line for each change of an exposed entity and of its row rule."""
    yield from _ENTITY.compare(_without_rule(before), _without_rule(after))
    yield from _lines_of_row_rule(before.get("row_rule"), after.get("row_rule"))


def _without_rule(content: JsonObject) -> JsonObject:
    return {name: value for name, value in content.items() if name != "row_rule"}


def _lines_of_row_rule(before: Any, after: Any) -> Iterator[Line]:
    """Yield a line for each change of a row rule, by the callers of its entries.

    Entries for the same roles are one.
    """
    old, new = _entries_by_roles(before), _entries_by_roles(after)
    if old == new:
        return
    if not old:
        yield Line(_("row rule added: callers may reach fewer records"), Effect.BEHAVIOUR)
    if not new:
        yield Line(_("row rule removed: callers reach every record"), Effect.BEHAVIOUR)
        return
    for roles in dict.fromkeys((*old, *new)):
        who = {"who": ", ".join(roles) or _("everyone")}
        if roles not in new:
            yield Line(_("row rule: the entry for %(who)s removed") % who, Effect.BEHAVIOUR)
        elif old.get(roles) == new[roles]:
            continue
        elif any(entry.get("all_records") for entry in new[roles]):
            yield Line(_("row rule: %(who)s may reach every record") % who, Effect.BEHAVIOUR)
        elif roles in old:
            yield Line(_("row rule: the entry for %(who)s changed") % who, Effect.BEHAVIOUR)
        elif old:
            # Without an earlier row rule, the line about the added one says it.
            yield Line(_("row rule: an entry for %(who)s added") % who, Effect.BEHAVIOUR)


def _entries_by_roles(rule: Any) -> dict[tuple[str, ...], list[JsonObject]]:
    """Return the entries of a row rule, in any recorded form, by their roles. () stands for everyone."""
    entries_by_roles: dict[tuple[str, ...], list[JsonObject]] = {}
    for entry in entries_in_json(rule):
        entries_by_roles.setdefault(tuple(entry.get("roles", ())), []).append(entry)
    return entries_by_roles

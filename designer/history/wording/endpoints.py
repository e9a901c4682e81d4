"""Endpoints: their own fields, then their lists, then what only their kind has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from designer.history.effects import Effect, Line
from designer.history.wording.access import access
from designer.history.wording.bindings import BINDINGS
from designer.history.wording.fields import JsonObject, Listed, Words, changed, switched, told
from designer.history.wording.inputs import inputs
from designer.history.wording.row_rules import ROW_RULE

_OWN = Words(
    {
        "enabled": switched(
            gettext_noop("switched on"),
            Effect.ADDITIVE,
            gettext_noop("switched off: it is served no more"),
            Effect.BREAKING,
            default=True,
        ),
        "title": changed(gettext_noop("title"), Effect.ADDITIVE),
        "description": told(gettext_noop("description")),
        "row_rule": ROW_RULE,
    }
)

_COLUMNS = Listed(
    noun=lambda name: _("column “%(name)s”") % {"name": name},
    # Its name is what callers read: another name is another column.
    name=lambda item: item.get("name") or item.get("attribute", ""),
    words=Words({"attribute": changed(gettext_noop("attribute"), Effect.BREAKING)}),
)

_FETCHERS = Listed(
    noun=lambda name: _("data fetcher “%(name)s”") % {"name": name},
    name=lambda item: item.get("name", ""),
    words=Words(),
    added=lambda item: Effect.BEHAVIOUR,
    removed=Effect.BEHAVIOUR,
)

_PRECONDITIONS = Listed(
    noun=lambda name: _("pre-condition “%(name)s”") % {"name": name},
    name=lambda item: item.get("expression", ""),
    words=Words(),
    # What was accepted may be refused now.
    added=lambda item: Effect.BREAKING,
    removed=Effect.ADDITIVE,
)

_LISTS = {
    "bindings": BINDINGS,
    "columns": _COLUMNS,
    "fetchers": _FETCHERS,
    "preconditions": _PRECONDITIONS,
}


def _calls(old: Any, new: Any) -> tuple[str, Effect]:
    """Of an association: what callers may do. `both` where nothing is said."""
    before, after = old or "both", new or "both"
    words = {
        "both": _("associate and disassociate"),
        "associate": _("associate only"),
        "disassociate": _("disassociate only"),
    }
    text = _("calls: %(before)s → %(after)s") % {
        "before": words.get(before, before),
        "after": words.get(after, after),
    }
    return text, Effect.ADDITIVE if after == "both" else Effect.BREAKING


_SETTINGS = Words(
    {
        "require_if_match": switched(
            gettext_noop("If-Match became required"),
            Effect.BREAKING,
            gettext_noop("If-Match is no longer required"),
            Effect.ADDITIVE,
        ),
        "may_create_outside_rule": switched(
            gettext_noop("records may be created outside the row rule"),
            Effect.BEHAVIOUR,
            gettext_noop("records are created within the row rule only: other calls are refused"),
            Effect.BREAKING,
        ),
        "labels": switched(
            gettext_noop("labels of options are answered"),
            Effect.ADDITIVE,
            gettext_noop("labels of options are no longer answered"),
            Effect.BREAKING,
        ),
        "option_set": changed(gettext_noop("option set"), Effect.BREAKING),
        "process": changed(gettext_noop("process"), Effect.BREAKING),
        "relationship": changed(gettext_noop("relationship"), Effect.BREAKING),
        # Other records may be reached by it.
        "related": changed(gettext_noop("related entity"), Effect.BEHAVIOUR),
        "calls": _calls,
    }
)


def endpoint(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    yield from _OWN.compare(_plain(before), _plain(after))
    yield from access(before.get("access", {}), after.get("access", {}))
    yield from inputs(before.get("inputs", []), after.get("inputs", []))
    for name, listed in _LISTS.items():
        yield from listed.compare(before.get(name, []), after.get(name, []))
    yield from _SETTINGS.compare(before.get("settings", {}), after.get("settings", {}))


def _plain(endpoint: JsonObject) -> JsonObject:
    elsewhere = {"access", "inputs", "settings", *_LISTS}
    return {name: value for name, value in endpoint.items() if name not in elsewhere}

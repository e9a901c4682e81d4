"""Changes of endpoints: their own fields, who may call them, their lists, and what only their kind has."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from designer.history.effects import Effect, Line
from designer.history.wording.field_wording import (
    FieldWords,
    JsonObject,
    Listed,
    Words,
    row_rule,
    switched,
    translated,
    with_values,
    without_values,
)
from designer.history.wording.input_wording import BINDINGS, inputs
from designer.kinds import KINDS
from designer.kinds.effects import Switch, Told, ToldBy
from designer.names import SERVICE_TYPE, USER_TYPE

_ACCESS_FIELDS = ("authentication_required", "roles", "caller_types")
# The caller types of an access that names none.
_DEFAULT_TYPES = [SERVICE_TYPE, USER_TYPE]


def access(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield a line for each change of who may call. Without the member, callers need a token and no role."""
    required_before, required_after = (
        before.get("authentication_required", True),
        after.get("authentication_required", True),
    )
    if required_after and not required_before:
        yield Line(_("authentication became required"), Effect.BREAKING)
    elif required_before and not required_after:
        yield Line(_("anyone may call, without a token"), Effect.BEHAVIOUR)
    yield from _lines_of_roles(before.get("roles", []), after.get("roles", []))
    yield from _lines_of_caller_types(
        before.get("caller_types", _DEFAULT_TYPES), after.get("caller_types", _DEFAULT_TYPES)
    )
    yield from Words().compare(_other_members(before), _other_members(after))


def _lines_of_roles(before: list[str], after: list[str]) -> Iterator[Line]:
    """Yield a line for each role that may or may no longer call."""
    for role in after:
        if role not in before:
            # The first role shuts out everyone who has it not.
            effect = Effect.ADDITIVE if before else Effect.BREAKING
            yield Line(_("role “%(role)s” may call") % {"role": role}, effect)
    for role in before:
        if role not in after:
            # Without any role, every authenticated caller may call.
            effect = Effect.BREAKING if after else Effect.BEHAVIOUR
            yield Line(_("role “%(role)s” taken away") % {"role": role}, effect)


def _lines_of_caller_types(before: list[str], after: list[str]) -> Iterator[Line]:
    """Yield a line for each caller type that is admitted, or no longer."""
    for name in after:
        if name not in before:
            yield Line(_("callers of type “%(type)s” are admitted") % {"type": name}, Effect.ADDITIVE)
    for name in before:
        if name not in after:
            yield Line(
                _("callers of type “%(type)s” are no longer admitted") % {"type": name}, Effect.BREAKING
            )


def _other_members(access: JsonObject) -> JsonObject:
    """Return the members of an access that this release does not know."""
    return {name: value for name, value in access.items() if name not in _ACCESS_FIELDS}


_ENDPOINT = Words(
    {
        "enabled": switched(
            gettext_noop("switched on"),
            Effect.ADDITIVE,
            gettext_noop("switched off: it is no longer served"),
            Effect.BREAKING,
            default=True,
        ),
        "title": with_values(gettext_noop("title"), Effect.ADDITIVE),
        "description": without_values(gettext_noop("description")),
        "translations": translated(gettext_noop("translations")),
        "row_rule": row_rule,
    }
)

_COLUMNS = Listed(
    noun=lambda name: _("column “%(name)s”") % {"name": name},
    # Its name is what callers read: another name is another column.
    name=lambda item: item.get("name") or item.get("attribute", ""),
    words=Words({"attribute": with_values(gettext_noop("attribute"), Effect.BREAKING)}),
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
    words=Words({"translations": translated(gettext_noop("translations of the message"))}),
    # What was accepted may be refused now.
    added=lambda item: Effect.BREAKING,
    removed=Effect.ADDITIVE,
)

_ACKNOWLEDGEMENTS = Listed(
    noun=lambda entity: _("acknowledgement that it reaches “%(entity)s” past row rules") % {"entity": entity},
    name=lambda item: item.get("entity", ""),
    words=Words({"reason": without_values(gettext_noop("reason"))}),
    removed=Effect.ADDITIVE,
)

_EXAMPLE_CALLS = Listed(
    noun=lambda name: _("example call “%(name)s”") % {"name": name},
    name=lambda item: item.get("name", ""),
    # They say what callers get, and change nothing of it.
    words=Words(
        {
            "status": with_values(gettext_noop("expected status"), Effect.ADDITIVE),
            "shape": without_values(gettext_noop("expected shape")),
            "values": without_values(gettext_noop("expected values")),
            "refused_for": with_values(gettext_noop("roles that must be refused"), Effect.ADDITIVE),
        },
        otherwise=Effect.ADDITIVE,
    ),
    removed=Effect.ADDITIVE,
)

_LISTS = {
    "acknowledgements": _ACKNOWLEDGEMENTS,
    "bindings": BINDINGS,
    "columns": _COLUMNS,
    "example_calls": _EXAMPLE_CALLS,
    "fetchers": _FETCHERS,
    "preconditions": _PRECONDITIONS,
}


def endpoint(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield a line for each change of an endpoint: its own fields, its access, its lists and its settings."""
    yield from _ENDPOINT.compare(_without_parts(before), _without_parts(after))
    yield from access(before.get("access", {}), after.get("access", {}))
    kind = KINDS.get(str(after.get("kind", "")))
    partial = kind is not None and kind.partial
    yield from inputs(before.get("inputs", []), after.get("inputs", []), partial=partial)
    for name, listed in _LISTS.items():
        yield from listed.compare(before.get(name, []), after.get(name, []))
    settings = _words_of_settings(str(after.get("kind", "")))
    yield from settings.compare(before.get("settings", {}), after.get("settings", {}))


def _without_parts(endpoint: JsonObject) -> JsonObject:
    """Return the members of an endpoint that are compared as fields. Others have words of their own."""
    elsewhere = {"access", "inputs", "settings", *_LISTS}
    return {name: value for name, value in endpoint.items() if name not in elsewhere}


def _words_of_settings(kind: str) -> Words:
    """Return the words for the settings of a kind: those that the settings declare; others are told by their
    difference.
    """
    endpoint_kind = KINDS.get(kind)
    words_by_field: dict[str, FieldWords] = {}
    for name, info in endpoint_kind.settings.model_fields.items() if endpoint_kind else ():
        for note in info.metadata:
            if isinstance(note, Switch):
                words_by_field[name] = switched(note.on, note.on_effect, note.off, note.off_effect)
            elif isinstance(note, Told):
                words_by_field[name] = with_values(note.label, note.effect)
            elif isinstance(note, ToldBy):
                words_by_field[name] = note.words
    return Words(words_by_field)

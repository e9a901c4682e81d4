"""Who may call: whoever could and cannot any more is broken."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from designer.history.effects import Effect, Line
from designer.history.wording.fields import JsonObject, Words

_OWN = ("authentication_required", "roles")


def access(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    required, requires = (
        before.get("authentication_required", True),
        after.get("authentication_required", True),
    )
    if requires and not required:
        yield Line(_("authentication became required"), Effect.BREAKING)
    elif required and not requires:
        yield Line(_("anyone may call, without a token"), Effect.BEHAVIOUR)
    yield from _roles(before.get("roles", []), after.get("roles", []))
    yield from Words().compare(_rest(before), _rest(after))


def _roles(before: list[str], after: list[str]) -> Iterator[Line]:
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


def _rest(access: JsonObject) -> JsonObject:
    return {name: value for name, value in access.items() if name not in _OWN}

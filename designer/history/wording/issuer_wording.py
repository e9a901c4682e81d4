"""Changes of issuers, and of the role rules in them."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from designer.history.effects import Effect, Line
from designer.history.wording.field_wording import JsonObject, Words, changed, switched, told

_ISSUER = Words(
    {
        "enabled": switched(
            gettext_noop("its tokens are accepted"),
            Effect.ADDITIVE,
            gettext_noop("its tokens are refused"),
            Effect.BREAKING,
            default=True,
        ),
        "issuer": changed(gettext_noop("issuer"), Effect.BREAKING),
        "description": told(gettext_noop("description")),
        "audiences": changed(gettext_noop("audiences"), Effect.BEHAVIOUR),
        "algorithms": changed(gettext_noop("algorithms"), Effect.BEHAVIOUR),
        "roles": changed(gettext_noop("roles of every caller"), Effect.BEHAVIOUR),
        "roles_expression": told(gettext_noop("expression that gives roles"), Effect.BEHAVIOUR),
        "readable_claims": changed(gettext_noop("readable claims"), Effect.BEHAVIOUR),
    }
)
_SHAPES = {
    "any": gettext_noop("an array, or words"),
    "array": gettext_noop("an array"),
    "words": gettext_noop("words"),
    "commas": gettext_noop("values with commas"),
    "text": gettext_noop("one text"),
}


def issuer(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    yield from _ISSUER.compare(_without_rules(before), _without_rules(after))
    yield from _role_rules(before.get("role_rules") or [], after.get("role_rules") or [])


def _without_rules(known: JsonObject) -> JsonObject:
    return {name: value for name, value in known.items() if name != "role_rules"}


def _role_rules(before: list[JsonObject], after: list[JsonObject]) -> Iterator[Line]:
    """By their claims. The order of rules changes no roles, because all of them are asked."""
    old, new = _by_claim(before), _by_claim(after)
    for name in dict.fromkeys((*old, *new)):
        if name not in old:
            words = _("role rule for “%(claim)s” added: %(gives)s")
            yield Line(words % {"claim": name, "gives": _gives(new[name])}, Effect.BEHAVIOUR)
        elif name not in new:
            words = _("role rule for “%(claim)s” removed: %(gives)s")
            yield Line(words % {"claim": name, "gives": _gives(old[name])}, Effect.BEHAVIOUR)
        else:
            yield from _role_rule(name, old[name], new[name])
    if [name for name in old if name in new] != [name for name in new if name in old]:
        yield Line(_("role rules in another order"), Effect.ADDITIVE)


def _role_rule(name: str, before: JsonObject, after: JsonObject) -> Iterator[Line]:
    subject = _("role rule for “%(claim)s”: ") % {"claim": name}
    shapes = [_shape(rule) for rule in (before, after)]
    if shapes[0] != shapes[1]:
        words = _("it reads %(after)s, and read %(before)s")
        yield Line(subject + words % {"before": shapes[0], "after": shapes[1]}, Effect.BEHAVIOUR)
    if bool(before.get("as_named")) != bool(after.get("as_named")):
        words = _("it gives %(after)s, and gave %(before)s")
        yield Line(subject + words % {"before": _gives(before), "after": _gives(after)}, Effect.BEHAVIOUR)
        return
    given, gives = _grants(before), _grants(after)
    for one in given:
        if one not in gives:
            yield Line(subject + _("%(grant)s removed") % {"grant": one}, Effect.BEHAVIOUR)
    for one in gives:
        if one not in given:
            yield Line(subject + _("%(grant)s added") % {"grant": one}, Effect.BEHAVIOUR)


def _by_claim(rules: list[JsonObject]) -> dict[str, JsonObject]:
    """Several rules may read one claim: each but the first has its number behind."""
    found: dict[str, JsonObject] = {}
    for rule in rules:
        claim = name = str(rule.get("claim", ""))
        number = 1
        while name in found:
            number += 1
            name = f"{claim} ({number})"
        found[name] = rule
    return found


def _shape(rule: JsonObject) -> str:
    shape = rule.get("shape", "any")
    return _(_SHAPES[shape]) if shape in _SHAPES else str(shape)


def _grants(rule: JsonObject) -> list[str]:
    return [f"{one.get('value', '')} → {one.get('role', '')}" for one in rule.get("grants") or []]


def _gives(rule: JsonObject) -> str:
    if rule.get("as_named"):
        return _("each value as a role")
    return ", ".join(_grants(rule)) or _("no role")

"""Changes of issuers, and of the role rules in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from designer.history.effects import Effect, Line
from designer.history.wording.field_wording import JsonObject, Words, switched, with_values, without_values

_ISSUER = Words(
    {
        "enabled": switched(
            gettext_noop("its tokens are accepted"),
            Effect.ADDITIVE,
            gettext_noop("its tokens are refused"),
            Effect.BREAKING,
            default=True,
        ),
        "issuer": with_values(gettext_noop("issuer"), Effect.BREAKING),
        "description": without_values(gettext_noop("description")),
        "audiences": with_values(gettext_noop("audiences"), Effect.BEHAVIOUR),
        "algorithms": with_values(gettext_noop("algorithms"), Effect.BEHAVIOUR),
        "roles": with_values(gettext_noop("roles of every caller"), Effect.BEHAVIOUR),
        "roles_expression": without_values(gettext_noop("expression that gives roles"), Effect.BEHAVIOUR),
        "readable_claims": with_values(gettext_noop("readable claims"), Effect.BEHAVIOUR),
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
    """Yield a line for each change of an issuer and of its role rules."""
    yield from _ISSUER.compare(_without_rules(before), _without_rules(after))
    yield from _lines_of_role_rules(before.get("role_rules") or [], after.get("role_rules") or [])


def _without_rules(content: JsonObject) -> JsonObject:
    return {name: value for name, value in content.items() if name != "role_rules"}


def _lines_of_role_rules(before: list[JsonObject], after: list[JsonObject]) -> Iterator[Line]:
    """Yield the changes of role rules by their claims. Their order changes no roles: all of them apply."""
    kept = _kept_rules(before, after)
    names = _names_of_rules(after)
    for old, (name, rule) in enumerate(zip(_names_of_rules(before), before, strict=True)):
        if old in kept:
            yield from _lines_of_role_rule(names[kept[old]], rule, after[kept[old]])
        else:
            words = _("role rule for “%(claim)s” removed: %(gives)s")
            yield Line(words % {"claim": name, "gives": _gives(rule)}, Effect.BEHAVIOUR)
    for new, rule in enumerate(after):
        if new not in kept.values():
            words = _("role rule for “%(claim)s” added: %(gives)s")
            yield Line(words % {"claim": names[new], "gives": _gives(rule)}, Effect.BEHAVIOUR)
    if list(kept.values()) != sorted(kept.values()):
        yield Line(_("role rules in another order"), Effect.ADDITIVE)


def _kept_rules(before: list[JsonObject], after: list[JsonObject]) -> dict[int, int]:
    """Return the position in `after` of each role rule of `before` that is still there, by its position.

    Several rules may read one claim. An equal rule is the same one, then the one with most grants in common,
    then the nearest: where the first of two is removed, the second one is not called changed.
    """
    candidates = sorted(
        (
            (rule == other, _common_grants(rule, other), -abs(old - new), -old, -new)
            for old, rule in enumerate(before)
            for new, other in enumerate(after)
            if rule.get("claim") == other.get("claim")
        ),
        reverse=True,
    )
    kept: dict[int, int] = {}
    for *_likeness, old, new in candidates:
        if -old not in kept and -new not in kept.values():
            kept[-old] = -new
    return dict(sorted(kept.items()))


def _lines_of_role_rule(name: str, before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield the changes of the role rule for the claim `name`."""
    subject = _("role rule for “%(claim)s”: ") % {"claim": name}
    shapes = [_shape(rule) for rule in (before, after)]
    if shapes[0] != shapes[1]:
        words = _("it reads %(after)s, and read %(before)s")
        yield Line(subject + words % {"before": shapes[0], "after": shapes[1]}, Effect.BEHAVIOUR)
    if bool(before.get("as_named")) != bool(after.get("as_named")):
        words = _("it gives %(after)s, and gave %(before)s")
        yield Line(subject + words % {"before": _gives(before), "after": _gives(after)}, Effect.BEHAVIOUR)
        return
    effect = Effect.BEHAVIOUR if _uses_grants(before) or _uses_grants(after) else Effect.ADDITIVE
    grants_before, grants_after = Counter(_grants(before)), Counter(_grants(after))
    for grant in grants_before | grants_after:
        name_of_grant = {"grant": grant}
        if grant not in grants_after:
            yield Line(subject + _("%(grant)s removed") % name_of_grant, effect)
        elif grant not in grants_before:
            yield Line(subject + _("%(grant)s added") % name_of_grant, effect)
        # A grant that is there twice gives the same as one.
        elif grants_before[grant] > grants_after[grant]:
            yield Line(subject + _("a duplicate of %(grant)s removed") % name_of_grant, Effect.ADDITIVE)
        elif grants_before[grant] < grants_after[grant]:
            yield Line(subject + _("a duplicate of %(grant)s added") % name_of_grant, Effect.ADDITIVE)
    if grants_before == grants_after and _grants(before) != _grants(after):
        yield Line(subject + _("values and roles in another order"), Effect.ADDITIVE)


def _common_grants(rule: JsonObject, other: JsonObject) -> int:
    """Return how many grants two role rules have in common."""
    return (Counter(_grants(rule)) & Counter(_grants(other))).total()


def _names_of_rules(rules: list[JsonObject]) -> list[str]:
    """Return the claim of each role rule. Further rules for the same claim have a number behind it."""
    seen: Counter[str] = Counter()
    names = []
    for rule in rules:
        claim = str(rule.get("claim", ""))
        seen[claim] += 1
        names.append(claim if seen[claim] == 1 else f"{claim} ({seen[claim]})")
    return names


def _shape(rule: JsonObject) -> str:
    """Return in words how a role rule reads the values of its claim. An unknown shape stays as it is."""
    shape = rule.get("shape", "any")
    return _(_SHAPES[shape]) if shape in _SHAPES else str(shape)


def _grants(rule: JsonObject) -> list[str]:
    """Return each grant of a role rule as `value → role`."""
    return [f"{grant.get('value', '')} → {grant.get('role', '')}" for grant in rule.get("grants") or []]


def _uses_grants(rule: JsonObject) -> bool:
    """Return whether the grants of a role rule can change which roles it gives.

    A rule that gives each value as a role ignores them, with one exception: in the shape `any`, a text that
    is the value of a grant is not split into words.
    """
    if not rule.get("as_named"):
        return True
    values = [str(grant.get("value", "")) for grant in rule.get("grants") or []]
    return rule.get("shape", "any") == "any" and any(value.split() != [value] for value in values)


def _gives(rule: JsonObject) -> str:
    """Return in words which roles a role rule gives."""
    if rule.get("as_named"):
        return _("each value as a role")
    return ", ".join(_grants(rule)) or _("no role")

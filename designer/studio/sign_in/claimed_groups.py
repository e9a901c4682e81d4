"""The groups of the studio that a provider's claims stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group

from designer.studio.sign_in.provider import Provider
from designer.token_issuers.claim_paths import texts_of

# What a page or the log repeats of a claim.
_MOST, _LONGEST = 20, 100


@dataclass(frozen=True, slots=True)
class ClaimedGroups:
    """The groups of the studio that a claim stands for, and the `values` of the claim.

    With `is_overage`, the provider left the groups out as there are too many (for Entra ID, more than 200).
    """

    groups: tuple[Group, ...]
    values: tuple[str, ...]
    is_overage: bool


def claimed_groups(provider: Provider, claims: Mapping[str, Any]) -> ClaimedGroups:
    values = texts_of(_at(claims, provider.groups_claim))
    names = {name for value in values for name in provider.groups.get(value, ())}
    left_out = claims.get("_claim_names")
    return ClaimedGroups(
        groups=tuple(Group.objects.filter(name__in=names).order_by("name")) if names else (),
        values=tuple(value[:_LONGEST] for value in values[:_MOST]),
        is_overage=isinstance(left_out, Mapping) and provider.groups_claim in left_out,
    )


def _at(claims: Mapping[str, Any], path: str) -> Any:
    """Return the claim of this very name, which may have dots, or the nested one that the dots lead to."""
    if path in claims:
        return claims[path]
    value: Any = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value

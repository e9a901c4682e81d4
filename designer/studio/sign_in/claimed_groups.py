"""The groups of the studio that a provider's claims stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group

from designer.studio.sign_in.provider import Provider
from designer.token_issuers.claim_paths import texts_of

# How many values of a claim a page or the log repeats, and how many characters of each.
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
    """Return the groups that the values of the claim of groups stand for.

    Values without a group in the settings, and groups that do not exist, are ignored.
    """
    values = texts_of(_claim_at(claims, provider.groups_claim))
    names = {name for value in values for name in provider.groups.get(value, ())}
    # OpenID Connect names there the claims that the token does not hold itself. Entra ID does so with the
    # groups of somebody who is in too many, and calls that overage.
    left_out = claims.get("_claim_names")
    return ClaimedGroups(
        groups=tuple(Group.objects.filter(name__in=names).order_by("name")) if names else (),
        values=tuple(value[:_LONGEST] for value in values[:_MOST]),
        is_overage=isinstance(left_out, Mapping) and provider.groups_claim in left_out,
    )


def _claim_at(claims: Mapping[str, Any], path: str) -> Any:
    """Return the claim whose name is `path`, dots included, or the nested claim that the dots lead to.

    None if there is neither.
    """
    if path in claims:
        return claims[path]
    value: Any = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value

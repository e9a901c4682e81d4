"""Two roles side by side: only what callers with the one may do, and callers with the other may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from designer.access_control.access_matrix import ANONYMOUS, AUTHENTICATED
from designer.access_control.caller_rights import (
    CallerFacts,
    EndpointRights,
    InWords,
    in_words,
    rights_of,
    rule_reach,
)
from designer.configuration import Configuration
from designer.definitions import RoleDefinition
from designer.readiness import State
from designer.sentences import Sentence, listed


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs between two columns of the matrix.

    `one` and `other` say, in words, how `what` is for each column. `endpoint` is the row id of the endpoint
    that the difference is about, `entity` the key of the exposed entity.
    """

    what: str
    one: str
    other: str
    endpoint: int | None = None
    entity: str = ""


def column_in_words(column: str) -> str:
    """Return a column of the permission matrix in words."""
    if column == ANONYMOUS:
        return Sentence("a caller without a token")
    return Sentence("a caller without a role") if column == AUTHENTICATED else column


def differences(
    one: str, other: str, configuration: Configuration, states: Mapping[int, State], say: InWords
) -> Iterator[Difference]:
    """Yield the differences between the callers of two columns of the matrix.

    They differ in the endpoints that they may call, and in the records that they reach through endpoints that
    both may call. Two roles may also differ in their own settings.
    """
    pairs = list(
        zip(
            rights_of(CallerFacts.of_column(one), configuration, states),
            rights_of(CallerFacts.of_column(other), configuration, states),
            strict=True,
        )
    )
    for mine, theirs in pairs:
        if mine.may_call != theirs.may_call:
            yield Difference(mine.methods_and_path, _may(mine), _may(theirs), endpoint=mine.id)
    yield from _record_differences(one, other, configuration, pairs, say)
    roles = {role.name: role for role in configuration.roles}
    if one in roles and other in roles:
        yield from _setting_differences(roles[one], roles[other])


def _may(rights: EndpointRights) -> str:
    """Return in words whether the endpoint may be called."""
    if rights.may_call:
        return Sentence("may call")
    return Sentence("may not call")


def _record_differences(
    one: str,
    other: str,
    configuration: Configuration,
    pairs: list[tuple[EndpointRights, EndpointRights]],
    say: InWords,
) -> Iterator[Difference]:
    """Yield a difference for each exposed entity whose records the two reach differently."""
    reached = {
        rule.exposed.key for mine, theirs in pairs if mine.may_call and theirs.may_call for rule in mine.reach
    }
    for exposed in configuration.entities:
        if exposed.key not in reached:
            continue
        mine = rule_reach(CallerFacts.of_column(one), exposed)
        theirs = rule_reach(CallerFacts.of_column(other), exposed)
        if (mine.is_open and theirs.is_open) or mine.entries == theirs.entries:
            continue
        yield Difference(
            Sentence("Records of %(entity)s", entity=f"{exposed.module}/{exposed.segment}"),
            listed(in_words(mine, say), "; "),
            listed(in_words(theirs, say), "; "),
            entity=exposed.key,
        )


def _setting_differences(one: RoleDefinition, other: RoleDefinition) -> Iterator[Difference]:
    """Yield the differences between the settings of two roles."""
    if one.rate != other.rate:
        yield Difference(Sentence("Requests a minute"), _rate(one), _rate(other))
    if one.platform_roles != other.platform_roles:
        yield Difference(
            Sentence("Platform roles"),
            ", ".join(one.platform_roles) or "–",
            ", ".join(other.platform_roles) or "–",
        )


def _rate(role: RoleDefinition) -> str:
    """Return the requests a minute of a role, in words; 0 leaves the limit to the service."""
    return str(role.rate) if role.rate else Sentence("as the service allows")

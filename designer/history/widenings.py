"""What a plan opens: the callers whom it lets in, or lets reach more records. People are asked before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from designer.access_control.access_matrix import callers_in_words, widens
from designer.definitions import (
    EndpointDefinition,
    ExposedEntityDefinition,
    IssuerDefinition,
    RowRuleEntry,
)
from designer.definitions.row_rules import is_open
from designer.documents.plan import Plan
from designer.history.items import digest_of
from designer.kinds import KINDS
from designer.sentences import Sentence

# Changes of an issuer that let nobody in.
_HARMLESS = {"enabled", "description", "name"}


class Unconfirmed(Exception):
    """A plan that was not carried out yet, because nobody has confirmed what it opens: `sentences`."""

    def __init__(self, sentences: list[Sentence]) -> None:
        self.sentences = sentences
        super().__init__("what the plan opens is not confirmed")

    @property
    def digest(self) -> str:
        """What whoever confirms sends back. It is valid for the same sentences alone."""
        return digest_of([str(sentence) for sentence in self.sentences])


def require_confirmed(plan: Plan, answer: str | None) -> None:
    """Check that `answer` is the digest of what the plan opens; None asks nobody. Raises Unconfirmed."""
    if answer is None:
        return
    unconfirmed = Unconfirmed(
        [sentence for change in plan.changes for sentence in _opened(change.before, change.after)]
    )
    if unconfirmed.sentences and answer != unconfirmed.digest:
        raise unconfirmed


def _opened(before: Any, after: Any) -> Iterator[Sentence]:
    """Yield what callers gain by the change from `before` to `after` of one item.

    Each is None where there is no such item.
    """
    if isinstance(after, EndpointDefinition):
        yield from _opened_by_endpoint(before, after)
    elif isinstance(after, IssuerDefinition):
        yield from _opened_by_issuer(before, after)
    elif isinstance(after, ExposedEntityDefinition):
        yield from _opened_by_entity(before, after)


def _opened_by_endpoint(before: EndpointDefinition | None, after: EndpointDefinition) -> Iterator[Sentence]:
    """Yield what callers gain by the change of an endpoint. `before` is None for a new one."""
    writes = KINDS[after.kind].writes
    served_before = before if before is not None and before.enabled else None
    if writes and after.enabled and served_before is None:
        yield Sentence(
            "%(endpoint)s writes, and is served again. May call it: %(callers)s.",
            endpoint=after.key,
            callers=callers_in_words(after.access),
        )
    elif (
        not writes
        and _is_open_to_anybody(after)
        and not (served_before and _is_open_to_anybody(served_before))
    ):
        yield Sentence("%(endpoint)s needs no token: anybody may call it.", endpoint=after.key)
    if before is None:
        return
    if writes and widens(before.access, after.access):
        yield Sentence("%(endpoint)s writes, and more callers may call it.", endpoint=after.key)
    if before.row_rule is not None and after.row_rule is None:
        yield Sentence("%(endpoint)s loses its row rule: callers may reach more records.", endpoint=after.key)
    if after.settings.creates_outside_row_rule and not before.settings.creates_outside_row_rule:
        yield Sentence("%(endpoint)s may create records outside its row rule.", endpoint=after.key)


def _opened_by_entity(
    before: ExposedEntityDefinition | None, after: ExposedEntityDefinition
) -> Iterator[Sentence]:
    """Yield what callers gain by the change of an exposed entity. A new one has no endpoints yet."""
    if before is None or before.row_rule == after.row_rule:
        return
    if is_open(after.row_rule):
        yield Sentence("All callers reach every record of %(entity)s.", entity=after.key)
    elif not is_open(before.row_rule) and _reaches_more(before.row_rule, after.row_rule):
        yield Sentence("Callers may reach more records of %(entity)s.", entity=after.key)


def _reaches_more(before: tuple[RowRuleEntry, ...], after: tuple[RowRuleEntry, ...]) -> bool:
    """Whether there are more entries, one that opens every record, or one for callers who had none before.

    Which records a changed filter hides is not compared.
    """
    # Entries are united: one more never hides anything. An empty name stands for everyone.
    callers_before = {role for entry in before for role in entry.roles or ("",)}
    return set(before) < set(after) or any(
        entry.all_records or not callers_before.issuperset(entry.roles or ("",))
        for entry in set(after) - set(before)
    )


def _opened_by_issuer(before: IssuerDefinition | None, after: IssuerDefinition) -> Iterator[Sentence]:
    """Yield whom the change of an issuer lets in. Whether rules about tokens became wider cannot be said: any
    change of them counts.
    """
    if not after.enabled:
        return
    if before is None or not before.enabled:
        yield Sentence("Tokens of the issuer “%(issuer)s” are accepted again.", issuer=after.name)
    elif before.model_dump(exclude=_HARMLESS) != after.model_dump(exclude=_HARMLESS):
        yield Sentence(
            "The issuer “%(issuer)s” gets other rules: it may let in other callers, or give them other "
            "roles.",
            issuer=after.name,
        )


def _is_open_to_anybody(endpoint: EndpointDefinition) -> bool:
    """Whether the endpoint is served to callers without a token."""
    return endpoint.enabled and not endpoint.access.authentication_required

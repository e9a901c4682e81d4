"""Changes that break callers: whoever makes one is told which endpoints are called, and answers first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from designer.configuration import Configuration, Endpoint
from designer.definitions import Definition, IssuerDefinition
from designer.documents.affected_endpoints import may_answer_otherwise
from designer.documents.keys import COLLECTIONS
from designer.documents.keys import Collection as ListOfDocument
from designer.documents.plan import Change
from designer.endpoint_calls import DAYS, recent_calls
from designer.endpoint_facts.roles_named import names_role
from designer.history.effects import Effect
from designer.history.refused_changes import ChangeRefused
from designer.history.wording import lines
from designer.readiness.findings import Finding, Severity
from designer.sentences import Counted, Sentence, listed, said

# The two questions. Forms send them as the names of their ticks.
MOVES, BREAKS = "_moves", "_breaks"
QUESTIONS = (MOVES, BREAKS)
RULE = "callers"
# Changes, and paths, that a question names.
_FEW_CHANGES, _FEW_PATHS = 5, 3
# Endpoints name these, and follow them when they are renamed: what that means for callers is told there.
_TOLD_BY_ENDPOINTS = ("modules", "entities", "roles")


class CallersUnanswered(ChangeRefused):
    """A change that breaks callers, about which nobody has been asked yet.

    `asked` are the questions, by their names. Nothing has changed.
    """

    def __init__(self, asked: Mapping[str, Sentence]) -> None:
        super().__init__([Finding(RULE, Severity.BLOCKING, question, "") for question in asked.values()])
        self.asked = asked


@dataclass(frozen=True, slots=True)
class BrokenEndpoint:
    """An endpoint that is called, with what breaks those calls: its address as callers know it, the number
    of its calls in the last `DAYS` days, and the changes, in the language of the reader.
    """

    address: str
    calls: int
    changes: tuple[str, ...] = ()


def broken_endpoints(before: Configuration, now: Configuration) -> list[BrokenEndpoint]:
    """Return the endpoints whose callers the change from `before` to `now` breaks, the most called first.

    A new path is not among the changes: `moved_endpoints` tells it.
    """
    changes_by_key: defaultdict[str, list[str]] = defaultdict(list)
    served = {
        endpoint.definition.key: endpoint
        for endpoint in before.endpoints.values()
        if endpoint.definition.enabled and endpoint.problem is None
    }
    for endpoint, other in _changed_endpoints(before, now):
        if endpoint.definition.key in served:
            changes_by_key[endpoint.definition.key] += _breaking_changes_of_endpoint(endpoint, other)
    for change in _other_changes(before, now):
        name = said(change.collection.in_words(change.key))
        breaking = [f"{name}: {text}" for text in _breaking_lines(change)]
        if not breaking:
            # Most changes break nothing: the endpoints that they concern are not looked for.
            continue
        for key, endpoint in served.items():
            if _may_concern(change, endpoint, before):
                changes_by_key[key] += breaking
    for key, text in _lost_roles(before, now):
        if key in served:
            changes_by_key[key].append(text)
    broken = {key: texts for key, texts in changes_by_key.items() if texts}
    calls = recent_calls(broken.keys()) if broken else {}
    called = [
        BrokenEndpoint(served[key].methods_and_path, calls[key][0], tuple(dict.fromkeys(texts)))
        for key, texts in broken.items()
        if key in calls
    ]
    return sorted(called, key=lambda endpoint: (-endpoint.calls, endpoint.address))


def moved_endpoints(before: Configuration, now: Configuration) -> list[BrokenEndpoint]:
    """Return the endpoints that are called and get another path, with their old paths, sorted by these."""
    old_paths = {}
    for id, endpoint in before.endpoints.items():
        present = now.endpoints.get(id)
        if present is None or present is endpoint or not endpoint.definition.enabled:
            continue
        if present.definition.enabled and present.path != endpoint.path:
            old_paths[endpoint.definition.key] = endpoint.path
    calls = recent_calls(old_paths.keys()) if old_paths else {}
    called = [BrokenEndpoint(old_paths[key], total) for key, (total, _last) in calls.items()]
    return sorted(called, key=lambda endpoint: endpoint.address)


def open_questions(
    before: Configuration, now: Configuration, answered: Collection[str]
) -> Mapping[str, Sentence]:
    """Return the questions about a change from `before` to `now` that are not in `answered`, by name.

    Empty when the change breaks no callers, or all questions are answered.
    """
    asked = {}
    if MOVES not in answered and (moved := moved_endpoints(before, now)):
        asked[MOVES] = Sentence(
            "Not done yet: this change gives another address to what callers use: %(paths)s (%(calls)s calls "
            "in the last %(days)s days). Calls to the old address would fail.",
            **_moved_values(moved),
        )
    if BREAKS not in answered and (broken := broken_endpoints(before, now)):
        asked[BREAKS] = _sentence_with_others(
            Sentence(
                "Not done yet: this change breaks callers of %(path)s (%(calls)s calls in the last %(days)s "
                "days): %(changes)s.",
                **_broken_values(broken[0]),
            ),
            broken,
        )
    return asked


def _broken_values(broken: BrokenEndpoint) -> dict[str, Any]:
    """Return the values of a sentence about one broken endpoint."""
    changes = list(broken.changes[:_FEW_CHANGES])
    more = ["…"] if len(broken.changes) > _FEW_CHANGES else []
    return {
        "path": broken.address,
        "calls": broken.calls,
        "days": DAYS,
        "changes": listed([*changes, *more], "; "),
    }


def _sentence_with_others(sentence: Sentence, broken: list[BrokenEndpoint]) -> Sentence:
    """Return the sentence about the first broken endpoint, followed by one about the others, if any."""
    if len(broken) == 1:
        return sentence
    others = broken[1:]
    more = ["…"] if len(others) > _FEW_PATHS else []
    also = Counted(
        "It also breaks callers of %(number)s other endpoint: %(paths)s.",
        "It also breaks callers of %(number)s other endpoints: %(paths)s.",
        len(others),
        paths=listed([*(endpoint.address for endpoint in others[:_FEW_PATHS]), *more], ", "),
    )
    return listed([sentence, also], " ")


def _moved_values(moved: list[BrokenEndpoint]) -> dict[str, Any]:
    """Return the values of a sentence about moved endpoints."""
    paths = list(dict.fromkeys(endpoint.address for endpoint in moved))
    more = ["…"] if len(paths) > _FEW_PATHS else []
    return {
        "paths": listed([*paths[:_FEW_PATHS], *more], ", "),
        "calls": sum(endpoint.calls for endpoint in moved),
        "days": DAYS,
    }


def _changed_endpoints(
    before: Configuration, now: Configuration
) -> Iterator[tuple[Endpoint, Endpoint | None]]:
    """Yield each endpoint that has changed, as it was and as it is; None for one that is gone."""
    # Made only when it is needed, because most changes remove no endpoint.
    present_by_key: Mapping[str, Endpoint] | None = None
    for id, endpoint in before.endpoints.items():
        present = now.endpoints.get(id)
        if present is None:
            # An endpoint that was removed and made again has another row, and the same key.
            present_by_key = present_by_key or {
                candidate.definition.key: candidate for candidate in now.endpoints.values()
            }
            present = present_by_key.get(endpoint.definition.key)
        if present is not endpoint:
            yield endpoint, present


def _lost_roles(before: Configuration, now: Configuration) -> Iterator[tuple[str, str]]:
    """Yield the key of each endpoint whose expressions name a role that is gone, with a sentence.

    A renamed role is gone, too, because expressions keep its old name.
    """
    for role in sorted({role.name for role in before.roles} - {role.name for role in now.roles}):
        for endpoint in now.endpoints.values():
            if endpoint.problem is None and names_role(endpoint, role, now.user_properties):
                text = Sentence("an expression names the role “%(role)s”, which is gone", role=role)
                yield endpoint.definition.key, said(text)


def _breaking_changes_of_endpoint(endpoint: Endpoint, other: Endpoint | None) -> list[str]:
    """Return the breaking changes of an endpoint in words, in the language of the reader.

    `other` is the endpoint after the change; None when it is gone.
    """
    if other is not None and other.problem is not None:
        # Its rows make no definition that could be compared.
        return []
    if other is not None and other.definition == endpoint.definition:
        # What it belongs to has changed, and is told by itself. An entity may have a thousand endpoints.
        return []
    after = None if other is None else other.definition.to_json()
    changes = lines("endpoints", endpoint.definition.to_json(), after)
    return [line.text for line in changes if line.effect is Effect.BREAKING]


def _breaking_lines(change: Change) -> list[str]:
    """Return the breaking changes of an item that is no endpoint, in words."""
    sides = (None if item is None else item.to_json() for item in (change.before, change.after))
    changes = lines(change.collection.field, *sides)
    return [line.text for line in changes if line.effect is Effect.BREAKING]


def _may_concern(change: Change, endpoint: Endpoint, configuration: Configuration) -> bool:
    """Whether calls of `endpoint`, one of `configuration`, may be answered otherwise after `change`."""
    if isinstance(change.before, IssuerDefinition):
        # Nobody knows which callers are this issuer's.
        return change.before.enabled and endpoint.definition.access.authentication_required
    return may_answer_otherwise(endpoint, change, configuration)


def _other_changes(before: Configuration, now: Configuration) -> Iterator[Change]:
    """Yield the changes of items that are no endpoints, without those by which nobody can lose."""
    for collection in COLLECTIONS:
        if collection.field == "endpoints":
            continue
        old_items, new_items = (getattr(side, collection.field) for side in (before, now))
        if old_items is new_items:
            continue
        yield from _changes_of_items(collection, old_items, new_items)


def _changes_of_items(
    collection: ListOfDocument, old_items: Iterable[Definition], new_items: Iterable[Definition]
) -> Iterator[Change]:
    """Yield a change for each of `old_items` that is changed or gone. New items break nobody."""
    new_by_key = {collection.key(item): item for item in new_items}
    for item in old_items:
        key = collection.key(item)
        other = new_by_key.get(key)
        if other is item or (other is not None and other == item):
            continue
        if other is None and (
            collection.field in _TOLD_BY_ENDPOINTS or _is_renamed_issuer(item, new_by_key.values())
        ):
            continue
        yield Change(collection, key, item, other)


def _is_renamed_issuer(item: Definition, others: Iterable[Definition]) -> bool:
    """Whether one of `others` is the issuer `item` under another name: tokens do not have the name."""
    if not isinstance(item, IssuerDefinition):
        return False
    return any(
        isinstance(other, IssuerDefinition) and item.model_copy(update={"name": other.name}) == other
        for other in others
    )

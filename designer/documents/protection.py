"""Which changes of the configuration need a proposal: those of what a protected part serves.

A change by which callers only lose needs none: an endpoint is disabled, fewer callers may call it, or they
reach fewer records. Drafts are not served, so anyone may change them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from designer.access_control.access_matrix import widens
from designer.configuration import Configuration, Endpoint
from designer.definitions import (
    Definition,
    EndpointDefinition,
    ExposedEntityDefinition,
    IssuerDefinition,
    RowRuleEntry,
)
from designer.definitions.row_rules import is_open
from designer.documents.affected_endpoints import may_answer_otherwise
from designer.documents.keys import COLLECTIONS, CONTEXT, RESTRICTED
from designer.documents.keys import Collection as ListOfDocument
from designer.documents.plan import Change
from designer.readiness.findings import Finding, Severity
from designer.sentences import Counted, Sentence, listed

RULE = "protected"
# The group of the protection of everything.
EVERYTHING = ""
# How many items a finding names.
_FEW = 3


def protection_refusals(before: Configuration, now: Configuration) -> list[Finding]:
    """Return a finding for each protected part whose served items change between `before` and `now`."""
    groups = {protection.group for protection in now.protections}
    if not groups:
        return []
    refused: defaultdict[str, list[Change]] = defaultdict(list)
    for change in changes_between(before, now):
        group = _protected_group(change, groups, before, now)
        if group is not None:
            refused[group].append(change)
    if (
        EVERYTHING in groups
        and _order_of_user_properties(before) != _order_of_user_properties(now)
        and not refused[EVERYTHING]
    ):
        return [_protection_finding(EVERYTHING, [Sentence("the order of user properties")], "")]
    return [
        _protection_finding(group, *_names_to_all(changes))
        for group, changes in sorted(refused.items())
        # Asking for `refused[EVERYTHING]` may have added an empty list.
        if changes
    ]


def _names_to_all(changes: list[Change]) -> tuple[list[Sentence], str]:
    """Return what changes, in words, and the key of the first item; empty where none has a name here.

    Whoever restores or imports everything may be refused for items that they may not see: these have no name.
    """
    named = [change for change in changes if change.collection.field not in RESTRICTED]
    items = [change.collection.in_words(change.key) for change in named]
    if len(named) < len(changes):
        items.append(Sentence("issuers"))
    return items, named[0].key if named else ""


def changes_between(before: Configuration, now: Configuration) -> Iterator[Change]:
    """Yield a change for every item that differs between `before` and `now`.

    Items whose rows make no definition do not count.
    """
    for collection in COLLECTIONS:
        old, new = _items(before, collection), _items(now, collection)
        for key in dict.fromkeys((*old, *new)):
            if old.get(key) != new.get(key):
                yield Change(collection, key, old.get(key), new.get(key))


def _items(configuration: Configuration, collection: ListOfDocument) -> Mapping[str, Definition]:
    """Return the items of a list of the configuration by key, without endpoints that cannot be read."""
    if collection.field != "endpoints":
        return {collection.key(item): item for item in getattr(configuration, collection.field)}
    readable = (
        endpoint.definition for endpoint in configuration.endpoints.values() if endpoint.problem is None
    )
    return {collection.key(definition): definition for definition in readable}


def _protected_group(
    change: Change, groups: Collection[str], before: Configuration, now: Configuration
) -> str | None:
    """Return the group whose protection forbids `change`; None when none does."""
    if _takes_away(change):
        return None
    if change.collection.field == "endpoints":
        if not (_is_enabled(change.before) or _is_enabled(change.after)):
            return None
        return _protection_of(change.group, groups)
    if change.group == CONTEXT:
        return group_protected_from_context(change, groups, before)
    group = _protection_of(change.group, groups)
    # Endpoints that answer by a new module or exposed entity are only in `now`.
    sides = (before, now) if change.before is None else (before,)
    if group is not None and any(
        may_answer_otherwise(endpoint, change, side)
        for side in sides
        for endpoint in _enabled_endpoints(side)
    ):
        return group
    return None


def group_protected_from_context(
    change: Change, groups: Collection[str], before: Configuration
) -> str | None:
    """Return the group whose protection forbids a change of a role, caller type, user property or issuer.

    These are in no module: where not everything is protected, a protected module whose enabled endpoints
    answer by the item forbids the change. None when no protection does.
    """
    if EVERYTHING in groups:
        # A role that nothing names yet lets nobody in.
        return None if change.collection.field == "roles" and change.before is None else EVERYTHING
    # An added property can have a name that endpoints read already of callers of other types.
    if change.before is None and change.collection.field != "user_properties":
        return None
    users = (
        endpoint for endpoint in _enabled_endpoints(before) if may_answer_otherwise(endpoint, change, before)
    )
    return next(
        (endpoint.definition.module for endpoint in users if endpoint.definition.module in groups), None
    )


def _protection_of(group: str, groups: Collection[str]) -> str | None:
    """Return the group that protects `group`, itself or everything; None when it is not protected."""
    return group if group in groups else EVERYTHING if EVERYTHING in groups else None


def _enabled_endpoints(configuration: Configuration) -> Iterator[Endpoint]:
    """Yield the endpoints that are not drafts."""
    return (endpoint for endpoint in configuration.endpoints.values() if endpoint.definition.enabled)


def _is_enabled(item: Any) -> bool:
    """Whether there is an endpoint, and it is enabled. `item`: its definition, or None."""
    return item is not None and item.enabled


def _takes_away(change: Change) -> bool:
    """Whether callers only lose by the change."""
    match change.before, change.after:
        case EndpointDefinition() as old, EndpointDefinition() as new:
            return (old.enabled and not new.enabled) or _narrows_endpoint(old, new)
        case ExposedEntityDefinition() as old, ExposedEntityDefinition() as new:
            return _is_same_but(old, new, "row_rule") and _narrows_rule(old.row_rule, new.row_rule)
        case IssuerDefinition() as old, IssuerDefinition() as new:
            return old.enabled and not new.enabled
    return False


def _narrows_endpoint(old: EndpointDefinition, new: EndpointDefinition) -> bool:
    """Whether only access and row rule differ, and fewer callers or records remain. A row rule may be added,
    not changed.
    """
    rule_is_kept = new.row_rule == old.row_rule or (old.row_rule is None and new.row_rule is not None)
    return (
        rule_is_kept and not widens(old.access, new.access) and _is_same_but(old, new, "access", "row_rule")
    )


def _narrows_rule(old: tuple[RowRuleEntry, ...], new: tuple[RowRuleEntry, ...]) -> bool:
    """Whether callers reach the same records under the row rule `new` as under `old`, or fewer."""
    # Entries are united: with fewer of them callers reach less, but with none they reach everything.
    return not is_open(new) and (is_open(old) or set(new) <= set(old))


def _is_same_but(old: Definition, new: Definition, *fields: str) -> bool:
    """Whether two definitions differ at most in `fields`."""
    return old.model_copy(update={field: getattr(new, field) for field in fields}) == new


def _order_of_user_properties(configuration: Configuration) -> list[str]:
    return [user_property.key for user_property in configuration.user_properties]


def _protection_finding(group: str, items: list[Sentence], subject: str) -> Finding:
    """Return the finding about a protected part. `items` would change; `subject` is the key of the first of
    them.
    """
    values = {
        "items": listed(items[:_FEW], ", "),
        "more": Counted(" and %(number)s more", " and %(number)s more", len(items) - _FEW)
        if len(items) > _FEW
        else "",
    }
    if group == EVERYTHING:
        message = Sentence(
            "The configuration is protected: what is served changes only by a proposal. This would change "
            "%(items)s%(more)s. Open it as a proposal, or disable what must not be served.",
            **values,
        )
    else:
        message = Sentence(
            "The module “%(module)s” is protected: what it serves changes only by a proposal. This would "
            "change %(items)s%(more)s. Open it as a proposal, or disable what must not be served.",
            module=group,
            **values,
        )
    return Finding(RULE, Severity.BLOCKING, message, subject)

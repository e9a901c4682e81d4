"""What a proposal is about: two documents of the same part, as it was and as it shall be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from designer.definitions import ConfigurationDocument
from designer.definitions.row_rules import roles_of
from designer.documents.keys import COLLECTIONS, CONTEXT
from designer.documents.plan import Change, plan
from designer.documents.reading import read
from designer.documents.writing import of_module, to_bytes
from designer.history.items import ORDER, USER_PROPERTIES, ItemKey
from designer.history.restoring import all_groups
from designer.models import Proposal

State: TypeAlias = dict[ItemKey, Any]


class Contents(NamedTuple):
    """`base` and `document` are the whole configuration or, with `module`, that module with the roles and
    caller types that either of them names.
    """

    base: ConfigurationDocument
    document: ConfigurationDocument
    module: str = ""

    @classmethod
    def of(cls, proposal: Proposal) -> Contents:
        """Raises DocumentError where what was stored means nothing to this release of the product."""
        base, document = (read(text.encode()) for text in (proposal.base, proposal.document))
        return cls(base, document, proposal.module)

    @classmethod
    def between(cls, now: ConfigurationDocument, wanted: ConfigurationDocument, module: str = "") -> Contents:
        """Of the way from `now` to `wanted`, both whole; of one module where it changes nothing else."""
        changes = _changes(now, wanted)
        module = module or _only_module(changes)
        if module:
            part = _part(now, wanted, module)
            if len(_changes(part.base, part.document)) == len(changes):
                return part
        return cls(now, wanted)

    @property
    def changes(self) -> tuple[Change, ...]:
        return _changes(self.base, self.document)

    def store(self, proposal: Proposal) -> None:
        """As columns of `proposal`, which is not saved."""
        proposal.base, proposal.document = (to_bytes(side).decode() for side in (self.base, self.document))
        proposal.module = self.module
        proposal.digest = digest_of_text(proposal.base)


def digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def state_of(document: ConfigurationDocument) -> State:
    """The JSON form of each item, by list and key; and the order of user properties."""
    found: State = {
        (collection.field, key): item.to_json()
        for collection in COLLECTIONS
        for key, item in collection.items(document).items()
    }
    if document.user_properties:
        found[ORDER, USER_PROPERTIES] = [known.key for known in document.user_properties]
    return found


def _changes(now: ConfigurationDocument, wanted: ConfigurationDocument) -> tuple[Change, ...]:
    return plan(now, wanted, all_groups(now)).changes


def _only_module(changes: Iterable[Change]) -> str:
    groups = {change.group for change in changes} - {CONTEXT}
    return groups.pop() if len(groups) == 1 else ""


def _part(now: ConfigurationDocument, wanted: ConfigurationDocument, module: str) -> Contents:
    sides = (now, wanted)
    endpoints = [one for side in sides for one in side.endpoints if one.module == module]
    entities = [one for side in sides for one in side.entities if one.module == module]
    roles = {role for one in endpoints for role in one.access.roles}.union(
        *(roles_of(entity.row_rule) for entity in entities)
    )
    types = {name for one in endpoints for name in one.access.caller_types}
    types &= {known.name for side in sides for known in side.caller_types if not known.is_built_in}
    before, after = (of_module(side, module, roles=roles, caller_types=types) for side in sides)
    return Contents(before, after, module)

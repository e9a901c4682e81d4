"""What a proposal is about: two documents of the same part, as it was and as it shall be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from designer.definitions import ConfigurationDocument
from designer.definitions.row_rules import roles_of
from designer.documents.document_reader import read
from designer.documents.document_writer import of_module, to_bytes
from designer.documents.keys import COLLECTIONS, CONTEXT
from designer.documents.plan import Change, plan
from designer.history.items import ORDER, USER_PROPERTIES, ItemKey
from designer.history.restoration import all_groups
from designer.models import Proposal

State: TypeAlias = dict[ItemKey, Any]


class Contents(NamedTuple):
    """The two documents of a proposal.

    `base` and `document` are the whole configuration or, with `module`, that module with the roles and caller
    types that either of them names.
    """

    base: ConfigurationDocument
    document: ConfigurationDocument
    module: str = ""

    @classmethod
    def of(cls, proposal: Proposal) -> Contents:
        """Read the contents of a proposal.

        Raises DocumentError when this release cannot read what was stored.
        """
        base, document = (read(text.encode()) for text in (proposal.base, proposal.document))
        return cls(base, document, proposal.module)

    @classmethod
    def between(
        cls, now: ConfigurationDocument, proposed: ConfigurationDocument, module: str = ""
    ) -> Contents:
        """Return the contents of a proposal that leads from `now` to `proposed`, limited to one module if
        no other changes.
        """
        changes = _changes(now, proposed)
        module = module or _only_module(changes)
        if module:
            part = _part(now, proposed, module)
            if len(_changes(part.base, part.document)) == len(changes):
                return part
        return cls(now, proposed)

    @property
    def changes(self) -> tuple[Change, ...]:
        return _changes(self.base, self.document)

    @property
    def removed(self) -> list[ItemKey]:
        """The items that the proposal removes."""
        return [change.item for change in self.changes if change.effect == "remove"]

    def store(self, proposal: Proposal) -> None:
        """Set the columns of `proposal` from the contents, without saving it."""
        proposal.base, proposal.document = (to_bytes(side).decode() for side in (self.base, self.document))
        proposal.module = self.module
        proposal.digest = digest_of_text(proposal.base)


def digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def state_of(document: ConfigurationDocument) -> State:
    """Return the JSON form of each item by list and key, and the order of user properties."""
    state: State = {
        (collection.field, key): item.to_json()
        for collection in COLLECTIONS
        for key, item in collection.items(document).items()
    }
    if document.user_properties:
        state[ORDER, USER_PROPERTIES] = [user_property.key for user_property in document.user_properties]
    return state


def _changes(now: ConfigurationDocument, proposed: ConfigurationDocument) -> tuple[Change, ...]:
    return plan(now, proposed, all_groups(now)).changes


def _only_module(changes: Iterable[Change]) -> str:
    """Return the only module that the changes are in, apart from roles and the like; empty where there is no
    such module.
    """
    groups = {change.group for change in changes} - {CONTEXT}
    return groups.pop() if len(groups) == 1 else ""


def _part(now: ConfigurationDocument, proposed: ConfigurationDocument, module: str) -> Contents:
    """Return both documents limited to a module, with the roles and caller types that its endpoints name."""
    sides = (now, proposed)
    endpoints = [endpoint for side in sides for endpoint in side.endpoints if endpoint.module == module]
    entities = [entity for side in sides for entity in side.entities if entity.module == module]
    roles = {role for endpoint in endpoints for role in endpoint.access.roles}.union(
        *(roles_of(entity.row_rule) for entity in entities)
    )
    types = {name for endpoint in endpoints for name in endpoint.access.caller_types}
    types &= {
        caller_type.name for side in sides for caller_type in side.caller_types if not caller_type.is_built_in
    }
    before, after = (of_module(side, module, roles=roles, caller_types=types) for side in sides)
    return Contents(before, after, module)

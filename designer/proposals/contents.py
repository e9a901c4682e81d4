"""What a proposal is about: two documents of the same part, as it was and as it shall be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from designer.definitions import ConfigurationDocument, Definition
from designer.definitions.row_rules import roles_of
from designer.documents.document_reader import read
from designer.documents.document_writer import of_module, to_bytes
from designer.documents.keys import COLLECTIONS, CONTEXT
from designer.documents.plan import Change, plan
from designer.documents.problems import DocumentError
from designer.history.items import ORDER, USER_PROPERTIES, ItemKey
from designer.history.restoration import all_groups
from designer.models import Proposal
from designer.sentences import Sentence

State: TypeAlias = dict[ItemKey, Any]
# A definition or, for the order of user properties, their keys.
ItemInDocument: TypeAlias = Definition | tuple[str, ...]


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
        return cls(*_read_documents(proposal.base, proposal.document), proposal.module)

    @classmethod
    def before_edit(cls, proposal: Proposal) -> Contents:
        """Read the contents that a proposal had before its last edit, which undoing that edit brings back.

        Raises DocumentError when this release cannot read what was stored, or if nobody has edited it.
        """
        if not proposal.earlier:
            raise DocumentError([Sentence("The proposal was changed since. Nothing was undone.")])
        earlier = json.loads(proposal.earlier)
        return cls(*_read_documents(earlier["base"], earlier["document"]), earlier["module"])

    @classmethod
    def between(
        cls, now: ConfigurationDocument, proposed: ConfigurationDocument, module: str = ""
    ) -> Contents:
        """Return the contents of a proposal that leads from `now` to `proposed`.

        They are limited to `module`, or else to the only module that changes, if all changes are in it.
        """
        changes = _changes_between(now, proposed)
        module = module or _only_module(changes)
        if module:
            # The part is enough if all changes are in it. Another role, for example, would be lost.
            part = _part_of_module(now, proposed, module)
            if len(_changes_between(part.base, part.document)) == len(changes):
                return part
        return cls(now, proposed)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that the proposal makes to what it started from."""
        return _changes_between(self.base, self.document)

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
    """Return the SHA-256 of a text, as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def state_of(document: ConfigurationDocument) -> State:
    """Return the JSON form of each item by list and key, and the order of user properties."""
    return {key: json_of(item) for key, item in items_in(document).items()}


def items_in(document: ConfigurationDocument) -> Mapping[ItemKey, ItemInDocument]:
    """Return each item by list and key, and the order of user properties."""
    items: dict[ItemKey, ItemInDocument] = {
        (collection.field, key): item
        for collection in COLLECTIONS
        for key, item in collection.items(document).items()
    }
    if document.user_properties:
        items[ORDER, USER_PROPERTIES] = tuple(user_property.key for user_property in document.user_properties)
    return items


def json_of(item: ItemInDocument) -> Any:
    """Return the JSON form of an item."""
    return item.to_json() if isinstance(item, Definition) else list(item)


# People read the page of a proposal many times, and each page asks for its contents several times. Two
# proposals are kept, because large ones have thousands of endpoints.
@lru_cache(maxsize=2)
def _read_documents(base: str, document: str) -> tuple[ConfigurationDocument, ConfigurationDocument]:
    """Read both documents of a proposal. What is equal in both is the same object, which is found to be equal
    at once.
    """
    old, new = read(base.encode()), read(document.encode())
    old_items = items_in(old)
    lists: dict[str, tuple[Any, ...]] = {}
    for collection in COLLECTIONS:
        items = collection.items(new).items()
        pairs = ((old_items.get((collection.field, key)), item) for key, item in items)
        lists[collection.field] = tuple(before if before == item else item for before, item in pairs)
    # A member that the document does not have stays missing: without `caller_types`, they stay as they are.
    return old, new.model_copy(update={field: lists[field] for field in new.model_fields_set & lists.keys()})


def _changes_between(now: ConfigurationDocument, proposed: ConfigurationDocument) -> tuple[Change, ...]:
    """Return every change that leads from `now` to `proposed`, removals included."""
    return plan(now, proposed, all_groups(now)).changes


def _only_module(changes: Iterable[Change]) -> str:
    """Return the only module that the changes are in, apart from roles and the like; empty where there is no
    such module.
    """
    groups = {change.group for change in changes} - {CONTEXT}
    return groups.pop() if len(groups) == 1 else ""


def _part_of_module(now: ConfigurationDocument, proposed: ConfigurationDocument, module: str) -> Contents:
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

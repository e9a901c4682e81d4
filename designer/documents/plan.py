"""What importing a document would do, before anything is done."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from designer.definitions import ConfigurationDocument, Definition
from designer.documents.differences import differences
from designer.documents.keys import CALLER_TYPES, COLLECTIONS, CONTEXT, OPTION_SETS, Collection, Key
from designer.documents.problems import DocumentError
from designer.sentences import Sentence, listed


@dataclass(frozen=True, slots=True)
class Change:
    """One item that an import adds (`before` None), changes, or removes (`after` None)."""

    collection: Collection
    key: Key
    before: Definition | None
    after: Definition | None
    confirmed: bool = True

    @property
    def item(self) -> tuple[str, Key]:
        """The list of the document that the item is in, and its key."""
        return self.collection.field, self.key

    @property
    def group(self) -> str:
        """The group of the item, by which an import may remove it."""
        group: str = self.collection.group(self.before or self.after)
        return group

    @property
    def effect(self) -> str:
        """`add`, `change`, `remove`, or `keep` for what the document lacks and nobody wants removed."""
        if self.before is None:
            return "add"
        if self.after is not None:
            return "change"
        return "remove" if self.confirmed else "keep"

    def to_json(self) -> dict[str, Any]:
        """Return the change as commands report it."""
        return {
            "change": self.effect,
            "list": self.collection.field,
            "key": self.key,
            "lines": [str(line).strip() for line in self.lines()],
        }

    def lines(self, *, names_option: bool = True) -> Iterator[str]:
        """Yield the change in lines for people: what is added (+), changed (~) with its differences, removed
        (-) or kept. `names_option`: say with which option of the command what is kept is removed.
        """
        what = self.collection.in_words(self.key)
        if self.before is None:
            yield listed(("+", what), " ")
        elif self.after is not None:
            yield listed(("~", what), " ")
            for difference in differences(self.before.to_json(), self.after.to_json()):
                yield listed(("   ", difference), " ")
        elif self.confirmed:
            yield listed(("-", what), " ")
        elif not names_option:
            yield Sentence("  %(item)s is not in the document; it is kept", item=what)
        else:
            yield Sentence(
                "  %(item)s is not in the document; it is kept (remove it with --delete %(group)s)",
                item=what,
                group=self.group,
            )


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes in the order in which they can be made. `reordered`: user properties change places.

    `kept` are changes that were left out: their items stay as they are.
    """

    changes: tuple[Change, ...]
    reordered: bool = False
    kept: tuple[Change, ...] = ()

    @property
    def does_nothing(self) -> bool:
        """Whether carrying out the plan changes nothing."""
        return not self.reordered and not any(change.confirmed for change in self.changes)

    def keeping(self, items: Names[tuple[str, Key]]) -> Plan:
        """Return the plan without the changes of `items`, which are named by their list and their key."""
        kept = tuple(change for change in self.changes if change.item in items)
        changes = tuple(change for change in self.changes if change.item not in items)
        return Plan(changes, self.reordered, (*self.kept, *kept))

    def lines(self, *, names_option: bool = True) -> Iterator[str]:
        """Yield the plan in lines for people, as `Change.lines` says each change."""
        for change in self.changes:
            yield from change.lines(names_option=names_option)
        for change in self.kept:
            yield Sentence(
                "  %(item)s stays as it is: what the document says of it is left out",
                item=change.collection.in_words(change.key),
            )
        if self.reordered:
            yield Sentence("~ user properties: in another order")


def plan(now: ConfigurationDocument, wanted: ConfigurationDocument, delete: Names[str] = ()) -> Plan:
    """Return the plan that leads from `now` to `wanted`.

    What `wanted` lacks is removed only in the groups that `delete` names: modules by their segments,
    `context` and `optionsets`. Raises DocumentError for a group that does not exist.
    """
    _check_groups(now, delete)
    changes: list[Change] = []
    for collection in COLLECTIONS:
        old, new = collection.items(now), _wanted_items(collection, now, wanted, delete)
        changes += [
            Change(collection, key, old.get(key), item) for key, item in new.items() if old.get(key) != item
        ]
    # Removals in reverse order: items that refer to others go first.
    for collection in reversed(COLLECTIONS):
        old, new = collection.items(now), _wanted_items(collection, now, wanted, delete)
        changes += [
            Change(collection, key, item, None, confirmed=collection.group(item) in delete)
            for key, item in old.items()
            if key not in new and _holds_group_of(wanted, collection, item, delete)
        ]
    return Plan(tuple(changes), reordered=_is_reordered(now, wanted))


def _wanted_items(
    collection: Collection, now: ConfigurationDocument, wanted: ConfigurationDocument, delete: Names[str]
) -> Mapping[Key, Definition]:
    """Return the items that a list has once the plan is carried out, as far as `wanted` tells.

    Built-in caller types are always there. A document without `caller_types` leaves them all as they are,
    unless `delete` names their group.
    """
    wanted_items = collection.items(wanted)
    if collection.field != CALLER_TYPES:
        return wanted_items
    present = collection.items(now)
    if CALLER_TYPES not in wanted.model_fields_set and CONTEXT not in delete:
        return present
    return {key: item for key, item in present.items() if collection.is_fixed(item)} | dict(wanted_items)


def _holds_group_of(
    wanted: ConfigurationDocument, collection: Collection, item: Definition, delete: Names[str]
) -> bool:
    """Whether `wanted` or `delete` names the group of `item`: a document of one module does not hold
    items of others.
    """
    group = collection.group(item)
    return group in delete or any(module.segment == group for module in wanted.modules)


def _check_groups(now: ConfigurationDocument, delete: Names[str]) -> None:
    """Raise DocumentError when `delete` names a group that the configuration `now` does not have."""
    groups = {CONTEXT, OPTION_SETS, *(module.segment for module in now.modules)}
    if unknown := sorted(set(delete) - groups):
        raise DocumentError(
            [
                Sentence(
                    "%(option)s: there is no such module. There are: %(known)s.",
                    option=f"--delete {unknown[0]}",
                    known=", ".join(sorted(groups)),
                )
            ]
        )


def _is_reordered(now: ConfigurationDocument, wanted: ConfigurationDocument) -> bool:
    """Whether the user properties that both documents have stand in another order."""
    old = [user_property.key for user_property in now.user_properties]
    new = [user_property.key for user_property in wanted.user_properties]
    return [name for name in old if name in new] != [name for name in new if name in old]

"""Versions as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from designer.documents.keys import COLLECTIONS, RESTRICTED
from designer.history.effects import Effect, Line, worst
from designer.history.items import ORDER
from designer.history.wording import lines
from designer.models import ItemChange

_NOUNS = {collection.field: collection.noun for collection in COLLECTIONS}
# How many lines of a change a list shows. The page of the change shows all.
_FEW = 4


@dataclass(frozen=True)
class ReadChange:
    """The change of one item, for readers. `is_restorable`: the item can be put back by itself."""

    change: ItemChange

    @property
    def what(self) -> str:
        """The name of the item in words."""
        return describe(self.change.collection, self.change.key)

    @cached_property
    def lines(self) -> list[Line]:
        """The change in sentences, each with its effect."""
        return lines(self.change.collection, self.change.before, self.change.after)

    @property
    def few(self) -> list[Line]:
        """The first lines, for lists of changes."""
        return self.lines[:_FEW]

    @property
    def more(self) -> int:
        """The number of lines after those in `few`."""
        return max(0, len(self.lines) - _FEW)

    @property
    def effect(self) -> Effect:
        """The most serious effect of all lines."""
        return worst(line.effect for line in self.lines)

    @property
    def is_restorable(self) -> bool:
        """Whether the item can be put back by itself, which an order cannot."""
        return self.change.collection != ORDER


def describe(collection: str, key: str) -> str:
    """Return the name of an item in words, such as “endpoint sales.accounts.create”."""
    if collection == ORDER:
        return _("user properties")
    return f"{_(_NOUNS.get(collection, collection))} {key}"


def describe_to_all(collection: str, key: str) -> str:
    """Return what `describe` returns, for a text that is kept for everybody who may look at versions.

    Of an item that not all of them may see, it has no name.
    """
    return _(_NOUNS[collection]) if collection in RESTRICTED else describe(collection, key)


def read_changes(changes: Iterable[ItemChange]) -> list[ReadChange]:
    return [ReadChange(change) for change in changes]

"""Versions as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from designer.documents.keys import COLLECTIONS
from designer.history.effects import Effect, Line, worst
from designer.history.items import ORDER
from designer.history.wording import lines
from designer.models import ItemChange

_NOUNS = {collection.field: collection.noun for collection in COLLECTIONS}
# Lines of one change in a list of many; its own page has all of them.
_FEW = 4


@dataclass(frozen=True)
class ReadChange:
    """One item's change. `restorable`: it can be put back by itself."""

    change: ItemChange

    @property
    def what(self) -> str:
        return describe(self.change.collection, self.change.key)

    @cached_property
    def lines(self) -> list[Line]:
        return lines(self.change.collection, self.change.before, self.change.after)

    @property
    def few(self) -> list[Line]:
        return self.lines[:_FEW]

    @property
    def more(self) -> int:
        return max(0, len(self.lines) - _FEW)

    @property
    def effect(self) -> Effect:
        return worst(line.effect for line in self.lines)

    @property
    def restorable(self) -> bool:
        return self.change.collection != ORDER


def describe(collection: str, key: str) -> str:
    """Names an item: “endpoint sales.accounts.create”."""
    if collection == ORDER:
        return _("user properties")
    return f"{_(_NOUNS.get(collection, collection))} {key}"


def read_changes(changes: Iterable[ItemChange]) -> list[ReadChange]:
    return [ReadChange(change) for change in changes]

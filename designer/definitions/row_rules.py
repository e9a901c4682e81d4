"""Row rules of exposed entities: which callers reach which records."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, BeforeValidator, model_validator

from crmclient.query.designed import DesignedFilter
from designer.definition import Definition, SetOf
from designer.queries.stored_queries import FilterValue
from designer.sentences import Sentence


class RowRuleEntry(Definition):
    """The records that callers with one of `roles` reach; without roles it holds for everyone, callers
    without a token included.

    They are the records that match `filter`, or all with `all_records`. That is a field of its own so that
    an entry that has lost its filter does not open the entity.
    """

    roles: SetOf[str] = ()
    filter: FilterValue = None
    all_records: bool = False

    @model_validator(mode="after")
    def _says_one_thing(self) -> RowRuleEntry:
        """Refuse an entry with neither a filter nor all records, and one with both."""
        if self.all_records and self.filter is not None:
            raise ValueError(Sentence("choose a filter or all_records, not both"))
        if not self.all_records and self.filter is None:
            raise ValueError(Sentence("write a filter, or set all_records"))
        return self

    @property
    def is_open(self) -> bool:
        """Whether the entry lets every caller reach every record."""
        return self.all_records and not self.roles

    def is_for(self, roles: Collection[str]) -> bool:
        """Whether the entry is for callers with `roles`."""
        return not self.roles or not set(self.roles).isdisjoint(roles)


class _EntryOfNobody(RowRuleEntry):
    """An entry that holds for no caller."""

    @property
    def is_open(self) -> bool:
        return False

    def is_for(self, roles: Collection[str]) -> bool:
        return False


# Without any entry, a row rule would let everyone reach every record. `all_records` is set only because an
# entry must have either that or a filter.
NOBODY: Final = _EntryOfNobody(all_records=True)


def _entries_of_content(content: Any) -> Any:
    """Return the entries of a row rule's JSON form. A filter alone, as older documents have it, is an entry
    for everyone.
    """
    if content is None or (isinstance(content, str) and not content.strip()):
        return ()
    if isinstance(content, (str, DesignedFilter)):
        return ({"filter": content},)
    return content


def in_one_order(entries: tuple[RowRuleEntry, ...]) -> tuple[RowRuleEntry, ...]:
    """Sort the entries and remove duplicates: a row rule is their union, whatever their order."""
    return tuple(sorted(dict.fromkeys(entries), key=lambda entry: (entry.roles, str(entry.to_json()))))


# No entries: every caller reaches every record. With entries, the union of those that are a caller's own.
RowRuleValue: TypeAlias = Annotated[
    tuple[RowRuleEntry, ...], BeforeValidator(_entries_of_content), AfterValidator(in_one_order)
]


def is_open(rule: Collection[RowRuleEntry]) -> bool:
    """Whether every caller reaches every record under `rule`."""
    return not rule or any(entry.is_open for entry in rule)


def roles_of(rule: Iterable[RowRuleEntry]) -> frozenset[str]:
    """Return the roles that `rule` names."""
    return frozenset(role for entry in rule for role in entry.roles)


def entries_in_json(content: Any) -> list[dict[str, Any]]:
    """Return the entries of a rule's JSON form, also of one that was written before rules had entries."""
    return [dict(entry) for entry in _entries_of_content(content)]


class Acknowledgement(Definition):
    """A note that an endpoint reaches `entity` past its row rules on purpose, by somebody who may say so."""

    entity: str
    reason: str = ""


def _sorted_by_entity(items: tuple[Acknowledgement, ...]) -> tuple[Acknowledgement, ...]:
    """Sort acknowledgements, so that equal ones compare equal whatever their order was."""
    return tuple(sorted(items, key=lambda item: (item.entity, item.reason)))


Acknowledgements: TypeAlias = Annotated[tuple[Acknowledgement, ...], AfterValidator(_sorted_by_entity)]

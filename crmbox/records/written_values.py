"""The values of one write. Each is checked and encoded; problems are collected, not raised one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from crmbox.engine.dialects.base import DbValue
from crmbox.engine.snapshot import Snapshot, StoredColumn, StoredEntity
from crmclient import value_checks
from crmclient.errors import (
    InvalidRecord,
    InvalidValue,
    MissingRequired,
    ReadOnlyAttribute,
    UnknownAttribute,
    WrongType,
)
from crmclient.limits import check, wrong_value
from crmclient.metadata import Attribute, AttributeType, RequiredLevel
from crmclient.text import fold
from crmclient.values import Guid, Party, Reference, Value, Values, references

_FILES = frozenset({AttributeType.FILE, AttributeType.IMAGE})


class ReferencedRecord(NamedTuple):
    """A record that a value refers to, and that must exist."""

    attribute: str
    entity: str
    id: Guid


class WrittenValues:
    """The values of one write.

    `columns` maps physical columns to database values; `pointed` are records still to be looked up. `parties`
    are written beside the record, by party list.
    """

    def __init__(self, snapshot: Snapshot, stored: StoredEntity) -> None:
        self.stored = stored
        self.columns: dict[str, DbValue] = {}
        self.parties: dict[str, tuple[Party, ...]] = {}
        self.pointed: list[ReferencedRecord] = []
        self.problems: list[InvalidValue] = []
        self._snapshot = snapshot

    def take(self, values: Values, *, creating: bool) -> None:
        """Take the values of a caller. Add a problem for each that is wrong, or whose attribute is unknown or
        read-only.
        """
        columns, lists = self.stored.columns, self.stored.party_lists
        for name, value in values.items():
            column = columns.get(name)
            if name in lists:
                self._take_parties(lists[name], value, creating=creating)
            elif column is None:
                self.problems.append(
                    UnknownAttribute(name, f"{self.stored.entity.logical_name} has no such attribute.")
                )
            elif not (column.attribute.creatable if creating else column.attribute.updatable):
                self.problems.append(ReadOnlyAttribute(name, "The platform fills it in itself."))
            else:
                self._take(column, value)

    def set(self, name: str, value: Value) -> None:
        """Set a value that the engine makes, if the entity has the attribute."""
        column = self.stored.columns.get(name)
        if column is not None:
            self._store(column, value)

    def stamp(self, names: Iterable[str], value: Value) -> None:
        """Set one value that the engine makes, such as the time, for several attributes of one type.

        The value is encoded once. Attributes that the entity lacks are skipped.
        """
        encoded: DbValue = None
        for name in names:
            column = self.stored.columns.get(name)
            if column is None:
                continue
            if encoded is None:
                encoded = column.codec.encode(value)
            self.columns[column.name] = encoded

    def stamp_user(self, names: tuple[str, ...], user: Guid) -> None:
        """Set `user` as the value of several lookups.

        The encoded values are cached, because few users write often.
        """
        self.columns.update(_user_in(self.stored, names, user))

    def sets(self, name: str) -> bool:
        """Whether the write gives the attribute a value or clears it."""
        column = self.stored.columns.get(name)
        return column is not None and column.name in self.columns

    def require(self, columns: Iterable[StoredColumn]) -> None:
        """Add a problem for each of `columns` without a value."""
        failed = {problem.attribute for problem in self.problems}
        for column in columns:
            name = column.attribute.logical_name
            if self.columns.get(column.name) is None and name not in failed:
                self.problems.append(MissingRequired(name, "A value is required."))

    def require_parties(self, lists: Iterable[Attribute]) -> None:
        """Add a problem for each of `lists` that is required and has no party, if it has no problem yet."""
        failed = {problem.attribute for problem in self.problems}
        self.problems += [
            MissingRequired(party_list.logical_name, "A party is required.")
            for party_list in lists
            if party_list.is_required
            and not self.parties.get(party_list.logical_name)
            and party_list.logical_name not in failed
        ]

    def finish(self) -> None:
        """Raise InvalidRecord with all problems, if there are any."""
        if self.problems:
            raise InvalidRecord(self.stored.entity.logical_name, self.problems)

    def _take_parties(self, attribute: Attribute, value: Any, *, creating: bool) -> None:
        """Take the parties of an activity. Wrong ones are noted as problems."""
        name = attribute.logical_name
        if not (attribute.creatable if creating else attribute.updatable):
            self.problems.append(ReadOnlyAttribute(name, "The platform fills it in itself."))
            return
        # `value_checks.parties` raises TypeError, `check` InvalidValue.
        try:
            parties = () if value is None else value_checks.parties(value)
            check(attribute, parties, self._snapshot.options_of)
        except InvalidValue as problem:
            self.problems.append(problem)
        except TypeError as error:
            self.problems.append(wrong_value(name, error))
        else:
            self.parties[name] = parties
            self.pointed += [
                ReferencedRecord(name, reference.entity, value_checks.guid(reference.id))
                for reference in references(parties)
            ]

    def _take(self, column: StoredColumn, value: Any) -> None:
        """Take one value. A wrong one is noted as a problem."""
        attribute = column.attribute
        # An empty text and an empty selection clear the attribute, as in Dataverse.
        if value is None or value in ("", ()):
            # No record is without a state, whatever the definition of an import by an earlier version says.
            if attribute.required is RequiredLevel.SYSTEM or attribute.type is AttributeType.STATE:
                self.problems.append(MissingRequired(attribute.logical_name, "It cannot be empty."))
            else:
                self._clear(column)
            return
        if attribute.type in _FILES:
            self.problems.append(WrongType(attribute.logical_name, "A file is written by upload."))
            return
        try:
            self._store(column, value, checked=True)
        except InvalidValue as problem:
            self.problems.append(problem)
        except (TypeError, ValueError) as error:
            self.problems.append(wrong_value(attribute.logical_name, error))

    def _clear(self, column: StoredColumn) -> None:
        """Empty an attribute: its value, its folded key and the entity that it points at."""
        for name in (column.name, column.key, column.target):
            if name is not None:
                self.columns[name] = None

    def _store(self, column: StoredColumn, value: Any, *, checked: bool = False) -> None:
        """Encode a value for the columns of its attribute: the value, its folded key, the entity of a lookup.

        `checked`: the value comes from a caller, so its limits are checked, and the record that it refers to
        is noted, to be looked up. Raises InvalidValue, TypeError and ValueError.
        """
        if value is None:
            self._clear(column)
            return
        encoded = column.codec.encode(value)
        if checked:
            check(column.attribute, value, self._snapshot.options_of)
        self.columns[column.name] = encoded
        if column.key is not None:
            self.columns[column.key] = fold(value)
        attribute = column.attribute
        if isinstance(value, Reference):
            if column.target is not None:
                self.columns[column.target] = value.entity
            if checked:
                self.pointed.append(ReferencedRecord(attribute.logical_name, value.entity, str(encoded)))
        elif attribute.targets and checked:
            # Not a lookup, but one of the ids in a row of an intersect entity.
            self.pointed.append(ReferencedRecord(attribute.logical_name, attribute.targets[0], str(encoded)))


@lru_cache(maxsize=4096)
def _user_in(stored: StoredEntity, names: tuple[str, ...], user: Guid) -> Mapping[str, DbValue]:
    """Return the database values, by column, that make each of the lookups `names` point at a user."""
    value = Reference("systemuser", user)
    values: dict[str, DbValue] = {}
    for column in (stored.columns[name] for name in names if name in stored.columns):
        values[column.name] = column.codec.encode(value)
        if column.target is not None:
            values[column.target] = value.entity
    return values

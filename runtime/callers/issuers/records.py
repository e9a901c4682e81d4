"""Finds the record of the platform that a caller stands for, by one claim that must name only one record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from crmclient import Call, Guid, Platform, Reference, Share, Value, parse_guid
from crmclient.metadata import Attribute, AttributeType
from crmclient.new_records import first_state
from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from crmclient.sentences import Sentence
from crmclient.text import fits_xml
from designer.definitions import CallerTypeDefinition, RecordDefinition
from runtime.callers.caller import Claims
from runtime.callers.issuers.claim_paths import claim_at

# The most records that are read. Platforms compare texts without regard to case, so more than one may match.
_MOST = 20
# Characters of a claim that names a record.
_LONGEST = 500
_ABOUT_CALLER = Call(about_caller=True, share=Share.READS)


@dataclass(frozen=True, slots=True)
class RecordSearch:
    """A search for records, and its result: `rows` are those of `entity` whose `attribute` has `value`.

    `inactive` has the positions in `rows` of records that no longer count. `problem` says why no record could
    be looked for; `reason` is the same in a word.
    """

    entity: str = ""
    attribute: str = ""
    value: str = ""
    rows: tuple[Mapping[str, Value], ...] = ()
    primary_id: str = ""
    inactive: frozenset[int] = field(default=frozenset())
    problem: str = ""
    reason: str = ""

    @property
    def record(self) -> Guid | None:
        """The id of the record that was found; None when there is no record, or more than one."""
        return str(self.rows[0][self.primary_id]) if len(self.rows) == 1 else None

    @property
    def is_inactive(self) -> bool:
        """Whether the first record is inactive. It is the only one where a caller stands for it."""
        return 0 in self.inactive


class RecordSource:
    """Finds records of one caller type on one platform. Raises what the platform raises.

    `entity` is the entity of the records; empty for a type without records.
    """

    def __init__(self, platform: Platform, type: CallerTypeDefinition) -> None:
        self._platform = platform
        users = platform.conventions.users
        self.entity = type.records(users.entity if users else "")
        # How the platform keeps its users, if they are these records; else None.
        self._users = users if users is not None and users.entity == self.entity else None

    def find_by_claim(
        self, definition: RecordDefinition, claims: Claims, columns: Collection[str] = ()
    ) -> RecordSearch:
        """Find the records that the caller's claim names, with `columns`. `definition` says which claim it
        is.
        """
        if not self.entity:
            return RecordSearch(problem=Sentence("Callers of this type have no record."), reason="no_entity")
        value = claim_at(claims, definition.claim)
        if not isinstance(value, str) or not 0 < len(value) <= _LONGEST or "\0" in value:
            problem = Sentence("The token has no text in the claim “%(claim)s”.", claim=definition.claim)
            return RecordSearch(self.entity, definition.attribute, problem=problem, reason="no_claim")
        if definition.verified and not is_verified(claims, definition.verified):
            problem = Sentence(
                "The claim “%(claim)s” does not say that it is verified.", claim=definition.verified
            )
            return RecordSearch(
                self.entity, definition.attribute, value, problem=problem, reason="not_verified"
            )
        return self.find_by_value(definition.attribute, value, columns, ignore_case=definition.ignore_case)

    def find_by_id(self, id: Guid, columns: Collection[str] = ()) -> RecordSearch:
        """Find the record with an id, with `columns`."""
        return self.find_by_value("", id, columns)

    def find_by_value(
        self, attribute: str, value: str, columns: Collection[str] = (), *, ignore_case: bool = False
    ) -> RecordSearch:
        """Find the records whose `attribute` has `value`. An empty `attribute` stands for the id of the
        record. With `ignore_case`, texts that differ in case only are the same.
        """
        primary_id = self._platform.entities()[self.entity].primary_id
        attributes = self._platform.attributes(self.entity)
        name = attribute or primary_id
        comparable = _comparable_value(attributes.get(name), value)
        if comparable is None:
            problem = Sentence("No record can have this value in “%(attribute)s”.", attribute=name)
            return RecordSearch(self.entity, name, value, problem=problem, reason="no_such_value")
        state_attribute = self._state_attribute
        wanted_names = dict.fromkeys((primary_id, name, state_attribute, *columns))
        query = Query(
            self.entity,
            tuple(Column(wanted) for wanted in wanted_names if wanted is not None and wanted in attributes),
            Filter((Condition(name, Operator.EQ, (comparable,)),)),
        )
        rows = self._platform.query(query, Page(size=_MOST), call=_ABOUT_CALLER).rows
        same_rows = tuple(row for row in rows if _is_same(row[name], value, ignore_case))
        states = [row.get(state_attribute) if state_attribute else None for row in same_rows]
        inactive = frozenset(position for position, state in enumerate(states) if self._means_inactive(state))
        return RecordSearch(
            entity=self.entity,
            attribute=name,
            value=value,
            rows=same_rows,
            primary_id=primary_id,
            inactive=inactive,
        )

    @property
    def _state_attribute(self) -> str | None:
        """The attribute that says whether a record still counts."""
        if self._users is not None:
            return self._users.disabled
        state = self._platform.conventions.of(self.entity).state
        return state if state in self._platform.attributes(self.entity) else None

    def _means_inactive(self, value: Value) -> bool:
        """Return whether a record is inactive that has this value in `_state_attribute`."""
        if value is None:
            return False
        if self._users is not None:
            # The attribute says whether a user is disabled.
            return bool(value)
        # A new record is in the first state; not every platform tells what the others mean.
        first = first_state(self.entity, self._platform)
        return first is not None and value != first


def is_verified(claims: Claims, path: str) -> bool:
    """Whether a claim says yes: as a truth value or, as some providers write it, as a text or a number."""
    claim = claim_at(claims, path)
    return claim is True or claim == 1 or (isinstance(claim, str) and claim.lower() in ("true", "1"))


def shown_columns(row: Mapping[str, Value], columns: Collection[str]) -> dict[str, Any]:
    """Return the attributes `columns` of a record by name. Expressions see no others."""
    return {name: row.get(name) for name in columns}


def is_linked(row: Mapping[str, Value], attribute: str) -> bool:
    """Whether the attribute that identifies callers has a value: then the record is somebody's already."""
    return row.get(attribute) not in (None, "")


def _comparable_value(attribute: Attribute | None, value: str) -> Value:
    """Return `value` as the platform compares it with an attribute; None when the attribute cannot
    have it, and when not every platform can be asked for it.
    """
    if attribute is None or not fits_xml(value):
        return None
    if attribute.type is AttributeType.UNIQUEIDENTIFIER:
        try:
            return parse_guid(value)
        except ValueError:
            return None
    return value if attribute.type in (AttributeType.STRING, AttributeType.MEMO) else None


def _is_same(stored: Value, value: str, ignore_case: bool) -> bool:
    """Whether a stored value is `value`: platforms also find texts that differ in case."""
    text = stored.id if isinstance(stored, Reference) else str(stored)
    if text == value:
        return True
    try:
        # Case and braces mean nothing in an id.
        return parse_guid(text) == parse_guid(value)
    except ValueError:
        return ignore_case and text.casefold() == value.casefold()

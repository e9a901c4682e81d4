"""Party lists on the wire: the parties of an activity are one collection, such as `email_activity_parties`.

Each says its part. A write of the collection stands for all parties of the activity: lists that a write says
nothing of are therefore read before, and sent along.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from crmclient.dataverse import paths
from crmclient.dataverse.api import REFERENCES, Api, version_in
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.decoding import Row, reader
from crmclient.errors import UnexpectedAnswer, UnknownEntity, UnknownTarget
from crmclient.metadata import Attribute, AttributeType, Entity
from crmclient.parties import ACTIVITY, ADDRESS, PART, PART_NUMBERS, PARTY, RECORD, collection_of, parts_of
from crmclient.platform import Call
from crmclient.sentences import Sentence
from crmclient.values import Guid, Party, Reference, Value

_RECORD: Final = Attribute(RECORD, AttributeType.LOOKUP)
_ACTIVITY: Final = Attribute(ACTIVITY, AttributeType.UNIQUEIDENTIFIER)
_SELECTED: Final = f"{PART},{ADDRESS},_{RECORD}_value"
_AT_ONCE: Final = 300
"""As many activities as one address names."""


def bodies(catalogue: Catalogue, name: str, parties: Iterable[Party]) -> list[dict[str, Any]]:
    """Return the parties of the list `name` as JSON. Raises UnknownTarget for a record of an unknown
    entity.
    """
    return [_body(catalogue, name, PART_NUMBERS[name], party) for party in parties]


def _body(catalogue: Catalogue, name: str, part: int, party: Party) -> dict[str, Any]:
    """Return a party as JSON. Raises UnknownTarget."""
    content: dict[str, Any] = {PART: part}
    if party.reference is not None:
        target = catalogue.entities().get(party.reference.entity)
        if target is None:
            raise UnknownTarget(name, f"There is no entity {party.reference.entity!r}.")
        bound = f"/{target.entity_set}({party.reference.id})"
        content[f"{_navigation(catalogue, target.logical_name)}@odata.bind"] = bound
    if party.address is not None:
        content[ADDRESS] = party.address
    return content


def _navigation(catalogue: Catalogue, target: str) -> str:
    """Return the navigation property from a party to its record; the usual one if metadata do not name
    another.
    """
    try:
        by_target = catalogue.document(PARTY).navigation.get(RECORD, {})
    except UnknownEntity:
        by_target = {}
    return by_target.get(target, f"{RECORD}_{target}")


class Parties:
    """Reads parties. Raises what `Platform.retrieve` and `Platform.query` raise."""

    def __init__(self, api: Api, catalogue: Catalogue) -> None:
        self._api = api
        self._catalogue = catalogue

    def parties_of_other_lists(
        self, entity: Entity, id: Guid, written: Iterable[str], call: Call
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Return the parties of the lists that are not `written`, as JSON, and the version of the record.

        A write of the lists `written` has to send them along, because it replaces all parties of the
        activity. The version is None when all lists are written.
        """
        lists = parts_of(self._catalogue.document(entity.logical_name).attributes.values())
        other_lists = [name for name in lists if name not in set(written)]
        if not other_lists:
            return [], None
        query = {"$select": entity.primary_id, **expansion(entity)}
        subject = Subject(Kind.RECORD, entity.logical_name, id)
        row = self._api.get(
            paths.with_query(paths.record(entity, id), query), subject, call, prefer=REFERENCES
        )
        parties_by_list = of_row(row, entity, other_lists)
        as_json = [
            body for name in other_lists for body in bodies(self._catalogue, name, parties_by_list[name])
        ]
        return as_json, version_in(row, entity.primary_id)

    def of_records(self, ids: Sequence[Guid], call: Call) -> dict[tuple[Guid, int], list[Party]]:
        """Return the parties of many activities, by activity and part."""
        entity = self._catalogue.entity(PARTY)
        parties_by_part: dict[tuple[Guid, int], list[Party]] = defaultdict(list)
        for start in range(0, len(ids), _AT_ONCE):
            values = json.dumps(list(ids[start : start + _AT_ONCE]), separators=(",", ":"))
            condition = f"Microsoft.Dynamics.CRM.In(PropertyName='{ACTIVITY}',PropertyValues={values})"
            query = {"$select": f"{_SELECTED},_{ACTIVITY}_value", "$filter": condition}
            path = paths.with_query(entity.entity_set, query)
            for row in self._api.rows(path, Subject(Kind.QUERY, PARTY), call, prefer=REFERENCES):
                activity = reader(_ACTIVITY, f"_{ACTIVITY}_value")(row)
                # What is left of a record that is gone says nothing.
                if (party := _party(row)) != Party():
                    parties_by_part[str(activity), row.get(PART) or 0].append(party)
        return parties_by_part


class AskedParties:
    """The parties of a query's rows: asked for together, whichever of their lists are answered."""

    def __init__(self, parties: Parties, call: Call) -> None:
        self._parties = parties
        self._call = call
        # By activity: the answer that its parties are in, which also has those of others.
        self._found: dict[Guid, Mapping[tuple[Guid, int], list[Party]]] = {}

    def learn(self, activities: Iterable[Guid]) -> None:
        """Read the parties of those activities whose parties are not known yet."""
        unknown_ids = [id for id in dict.fromkeys(activities) if id not in self._found]
        if unknown_ids:
            parties_by_part = self._parties.of_records(unknown_ids, self._call)
            self._found |= dict.fromkeys(unknown_ids, parties_by_part)

    def of(self, activity: Guid, name: str) -> tuple[Party, ...]:
        """Return the parties in the list `name` of an activity that `learn` has read."""
        return tuple(self._found.get(activity, {}).get((activity, PART_NUMBERS[name]), ()))


def expansion(entity: Entity) -> dict[str, str]:
    """Return the option of a retrieve that adds the parties of an activity."""
    return {"$expand": f"{collection_of(entity.logical_name)}($select={_SELECTED})"}


def of_row(row: Row, entity: Entity, lists: Iterable[str]) -> dict[str, tuple[Party, ...]]:
    """Return the parties of each of `lists`, from a record that was read with `expansion`."""
    # Part 0 is none of the lists': a party that does not say its part is in no list.
    parties_by_part: dict[int, list[Party]] = defaultdict(list)
    for item in _rows(row.get(collection_of(entity.logical_name))):
        party = _party(item)
        # What is left of a record that is gone says nothing.
        if party != Party():
            parties_by_part[item.get(PART) or 0].append(party)
    return {name: tuple(parties_by_part[PART_NUMBERS[name]]) for name in lists}


def _party(row: Row) -> Party:
    """Return the party in a row; `Party()`, which says nothing, for one with neither record nor address."""
    record: Value = reader(_RECORD, f"_{RECORD}_value")(row)
    address = row.get(ADDRESS)
    return Party(
        record if isinstance(record, Reference) else None,
        address if isinstance(address, str) and address else None,
    )


def _rows(rows: Any) -> list[Row]:
    """Return `rows` if it is a list of JSON objects. Raises UnexpectedAnswer for anything else."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnexpectedAnswer(Sentence("The platform's answer has no parties."))
    return rows

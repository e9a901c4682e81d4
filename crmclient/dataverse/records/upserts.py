"""Writing a record by its alternate key: a PATCH of the key's address, which creates where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from crmclient.alternate_keys import checked_key, key_text, unknown_record
from crmclient.dataverse import paths
from crmclient.dataverse.api import REPRESENTATION, Api, tag_of, version_in
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.decoding import property_name
from crmclient.dataverse.records.encoding import encode
from crmclient.dataverse.records.payload import payload
from crmclient.dataverse.records.single_records import Records
from crmclient.dataverse.records.writes import duplicate_detection
from crmclient.errors import DuplicateKey, InvalidRecord, InvalidValue, StateConflict
from crmclient.limits import wrong_value
from crmclient.metadata import AlternateKey, Attribute, AttributeType, Entity
from crmclient.parties import collection_of
from crmclient.platform import Call, Create, Update
from crmclient.query.ast import ALL, Column, Condition, Filter, Operator, Page, Query
from crmclient.values import Guid, QueryResult, Reference, Upserted, Values

_CREATED: Final = 201
# Dataverse's documentation: a key whose value holds one of these cannot be written by its address.
_UNFIT: Final = frozenset("/<>*%&:\\?+")
# How often a record is looked for: one that is made between the look and the write is there at the next look.
_LOOKS: Final = 2


class Upserts:
    """Writes upserts. Raises what `Platform.upsert` raises. `query` runs a query, as `Queries.run` does."""

    def __init__(
        self,
        api: Api,
        catalogue: Catalogue,
        records: Records,
        query: Callable[[Query, Page, Call], QueryResult],
    ) -> None:
        self._api = api
        self._catalogue = catalogue
        self._records = records
        self._query = query

    def upsert(
        self,
        entity_name: str,
        key: Values,
        values: Values,
        exists: bool | None,
        if_version: str | None,
        call: Call,
    ) -> Upserted:
        """Write `values` to the record with an alternate key, or create one of `key` and `values`.

        With `exists` True or an `if_version`, the record is never created; with `exists` False, it is never
        updated.
        """
        entity = self._catalogue.entity(entity_name)
        attributes = self._catalogue.document(entity_name).attributes
        must_exist = exists is True or if_version is not None
        alternate_key = checked_key(
            entity, attributes, key, values, may_create=not must_exist, may_update=exists is not False
        )
        literals = _literals(entity, [attributes[name] for name in alternate_key.attributes], key)
        content = payload(self._catalogue, entity, values, creating=not must_exist)
        # With parties, an update has to send those of the other lists along, which only the record tells.
        if collection_of(entity_name) in content or any(
            not _UNFIT.isdisjoint(literal) for literal in literals.values()
        ):
            return self._by_id(entity, alternate_key, key, values, exists, if_version, call)
        headers = {"Prefer": REPRESENTATION, **duplicate_detection(call)}
        if must_exist:
            headers["If-Match"] = tag_of(if_version)
        elif exists is False:
            headers["If-None-Match"] = "*"
        address = ",".join(f"{name}={quote(literal, safe='')}" for name, literal in literals.items())
        path = paths.with_query(f"{entity.entity_set}({address})", {"$select": entity.primary_id})
        request = self._api.request("PATCH", path, content, headers)
        subject = Subject(
            Kind.RECORD,
            entity_name,
            key_text(key),
            values={**key, **values},
            keys=entity.keys,
            primary_id=entity.primary_id,
        )
        try:
            answer = self._api.send(request, subject, call)
        except DuplicateKey as error:
            # Of a record that is not to be there Dataverse does not say by which key it is.
            if exists is False and error.key == entity.primary_id:
                raise DuplicateKey(entity_name, alternate_key.name) from error
            raise
        row = answer.json()
        version = version_in(row, entity.primary_id)
        return Upserted(str(row[entity.primary_id]), version, created=answer.status == _CREATED)

    def _by_id(
        self,
        entity: Entity,
        alternate_key: AlternateKey,
        key: Values,
        values: Values,
        exists: bool | None,
        if_version: str | None,
        call: Call,
    ) -> Upserted:
        """Look for the record by its key, then update or create it.

        For a key that cannot stand in an address, and for values with parties.
        """
        name = entity.logical_name
        must_exist = exists is True or if_version is not None
        for _ in range(_LOOKS):
            id = self._find(entity, key, call)
            if id is not None:
                if exists is False:
                    raise DuplicateKey(name, alternate_key.name)
                changed = self._records.update(Update(name, id, values, if_version), call)
                return Upserted(changed.id, changed.version, created=False)
            if must_exist:
                raise unknown_record(entity, key)
            try:
                made = self._records.create(Create(name, {**key, **values}), call)
                return Upserted(made.id, made.version, created=True)
            except DuplicateKey as error:
                # Somebody has created the record since the look for it: the next look finds it.
                if exists is False or error.key != alternate_key.name:
                    raise
        raise StateConflict(f"The {name} is changed by others all the time.")

    def _find(self, entity: Entity, key: Values, call: Call) -> Guid | None:
        """Return the id of the record with this key; None without one."""
        same = tuple(
            Condition(name, Operator.EQ, (value.id if isinstance(value, Reference) else value,))
            for name, value in key.items()
        )
        query = Query(entity.logical_name, (Column(entity.primary_id),), Filter(same), top=1)
        rows = self._query(query, ALL, call).rows
        return str(rows[0][entity.primary_id]) if rows else None


def _literals(entity: Entity, attributes: list[Attribute], key: Values) -> dict[str, str]:
    """Return the key's values as an address has them, by property. Raises InvalidRecord."""
    literals: dict[str, str] = {}
    problems: list[InvalidValue] = []
    for attribute in attributes:
        value = key[attribute.logical_name]
        try:
            encoded = encode(attribute, value.id if isinstance(value, Reference) else value)
        except (TypeError, ValueError) as error:
            problems.append(wrong_value(attribute.logical_name, error))
            continue
        text = str(encoded)
        if attribute.type in (AttributeType.STRING, AttributeType.MEMO):
            text = "'" + text.replace("'", "''") + "'"
        literals[property_name(attribute)] = text
    if problems:
        raise InvalidRecord(entity.logical_name, problems)
    return literals

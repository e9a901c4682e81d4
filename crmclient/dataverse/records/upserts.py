"""Writing a record by its alternate key: a PATCH of the key's address, which creates where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Final
from urllib.parse import quote

from crmclient.alternate_keys import checked_key, key_text, unknown_record
from crmclient.dataverse.api import Api, tag_of, version_in
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.failures import check
from crmclient.dataverse.http.messages import Answer, Request
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.records.decoding import property_name
from crmclient.dataverse.records.encoding import encode
from crmclient.dataverse.records.payload import payload
from crmclient.dataverse.records.record_answers import RecordAnswers, asks_for_record, is_record_refused
from crmclient.dataverse.records.single_records import Records
from crmclient.dataverse.records.writes import duplicate_detection
from crmclient.errors import (
    DuplicateKey,
    InvalidRecord,
    InvalidValue,
    RecordNotFound,
    StateConflict,
    UnexpectedAnswer,
)
from crmclient.limits import wrong_value
from crmclient.metadata import AlternateKey, Attribute, AttributeType, Entity
from crmclient.parties import collection_of
from crmclient.platform import Call, Create, Update
from crmclient.query.ast import ALL, Column, Condition, Filter, Operator, Page, Query
from crmclient.sentences import Sentence
from crmclient.values import Guid, QueryResult, Reference, Upserted, Values, parse_guid

_CREATED: Final = 201
_NO_CONTENT: Final = 204
_ADDRESS: Final = re.compile(r"\(([0-9a-fA-F-]{36})\)$")
# Dataverse's documentation: a key whose value holds one of these cannot be written by its address. Windows'
# HTTP service refuses control characters, such as the ends of lines, in every path, before Dataverse sees it.
_UNFIT: Final = frozenset("/<>*%&:\\?+") | {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}
# How often a record is looked for: one that is made between the look and the write is there at the next look.
_LOOKS: Final = 2


class Upserts:
    """Writes upserts. Raises what `Platform.upsert` raises. `query` runs a query, as `Queries.run` does."""

    def __init__(
        self,
        api: Api,
        catalogue: Catalogue,
        records: Records,
        answers: RecordAnswers,
        query: Callable[[Query, Page, Call], QueryResult],
    ) -> None:
        self._api = api
        self._catalogue = catalogue
        self._records = records
        self._answers = answers
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
        must_exist = _must_exist(exists, if_version)
        alternate_key = checked_key(
            entity, attributes, key, values, may_create=not must_exist, may_update=exists is not False
        )
        # Before the values, as on every platform: nothing is written where the key can be no record's.
        literals = _literals(entity, [attributes[name] for name in alternate_key.attributes], key)
        content = payload(self._catalogue, entity, values, creating=not must_exist, key=key)
        # With parties, an update has to send those of the other lists along, which only the record tells.
        if collection_of(entity_name) in content or any(
            not _UNFIT.isdisjoint(literal) for literal in literals.values()
        ):
            return self._by_id(entity, alternate_key, key, values, exists, if_version, call)
        address = ",".join(f"{name}={quote(literal, safe='')}" for name, literal in literals.items())
        subject = Subject(
            Kind.RECORD,
            entity_name,
            key_text(key),
            values={**key, **values},
            keys=entity.keys,
            primary_id=entity.primary_id,
        )
        request = self._api.request(
            "PATCH", f"{entity.entity_set}({address})", content, duplicate_detection(call)
        )
        try:
            return self._send(request, subject, exists, if_version, call)
        except DuplicateKey as error:
            # Of a record that is not to be there Dataverse does not say by which key it is.
            if exists is False and error.key == entity.primary_id:
                raise DuplicateKey(entity_name, alternate_key.name) from error
            raise

    def _send(
        self, request: Request, subject: Subject, exists: bool | None, if_version: str | None, call: Call
    ) -> Upserted:
        """Send an upsert under the conditions of `exists` and `if_version`. Return what was stored."""
        conditioned = _under_conditions(request, exists, if_version)
        asking = self._answers.ask(conditioned, subject.entity, subject.primary_id, call)
        if not asks_for_record(asking):
            return self._send_unread(request, subject, exists, if_version, call)
        answer = self._api.client.send(asking, call)
        if not is_record_refused(asking, answer):
            check(answer, subject, acting=call.caller is not None)
            row = answer.json()
            version = version_in(row, subject.primary_id)
            return Upserted(str(row[subject.primary_id]), version, created=answer.status == _CREATED)
        try:
            stored = self._send_unread(request, subject, exists, if_version, call)
        except DuplicateKey as error:
            if exists is not False or error.key != subject.primary_id:
                raise
            # It was not there at the first attempt, and so that has made it. Written again, it says its id.
            stored = replace(self._send_unread(request, subject, True, None, call), created=True)
        self._answers.note_refusal((subject.entity,), call)
        return stored

    def _send_unread(
        self, request: Request, subject: Subject, exists: bool | None, if_version: str | None, call: Call
    ) -> Upserted:
        """Send an upsert for a user who may not read the record.

        Without the record, no answer says whether it was created: the condition of each request says it.
        """
        must_exist = _must_exist(exists, if_version)
        for _ in range(_LOOKS):
            if exists is not False:
                try:
                    answer = self._api.send(_under_conditions(request, True, if_version), subject, call)
                    return Upserted(_id_in(answer), None, created=False)
                except RecordNotFound:
                    if must_exist:
                        raise
            try:
                answer = self._api.send(_under_conditions(request, False, None), subject, call)
                return Upserted(_id_in(answer), None, created=True)
            except DuplicateKey as error:
                # Somebody has created the record since the update found none: the next update finds it.
                if exists is False or error.key != subject.primary_id:
                    raise
        raise StateConflict(f"The {subject.entity} is changed by others all the time.")

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
        must_exist = _must_exist(exists, if_version)
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


def _must_exist(exists: bool | None, if_version: str | None) -> bool:
    """Whether an upsert only updates: it is to find a record, or a version of one."""
    return exists is True or if_version is not None


def _under_conditions(request: Request, exists: bool | None, if_version: str | None) -> Request:
    """Return an upsert that only updates, only creates, or does either, as `Upserts.upsert` says."""
    if _must_exist(exists, if_version):
        return replace(request, headers={**request.headers, "If-Match": tag_of(if_version)})
    if exists is False:
        return replace(request, headers={**request.headers, "If-None-Match": "*"})
    return request


def _id_in(answer: Answer) -> Guid:
    """Return the id of the record that was written, from the answer's address of it.

    Raises UnexpectedAnswer for an answer without such an address.
    """
    address = _ADDRESS.search(answer.headers.get("odata-entityid", ""))
    if answer.status != _NO_CONTENT or address is None:
        raise UnexpectedAnswer(Sentence("The platform's answer has no address of the record."))
    return parse_guid(address[1])


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
        # Without an exponent, which `str` gives a small or round number.
        text = f"{encoded:f}" if isinstance(encoded, Decimal) else str(encoded)
        if attribute.type in (AttributeType.STRING, AttributeType.MEMO):
            text = "'" + text.replace("'", "''") + "'"
        literals[property_name(attribute)] = text
    if problems:
        raise InvalidRecord(entity.logical_name, problems)
    return literals

"""`crmclient.Platform` on the tables of one SQLite database."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, NoReturn

from crmclient import (
    Download,
    FileInfo,
    Guid,
    ProcessValues,
    QueryResult,
    Record,
    Reference,
    Stored,
    Upserted,
    Value,
    Values,
    new_guid,
)
from crmclient.alternate_keys import checked_key, unknown_record
from crmclient.conventions import Ability, Conventions
from crmclient.errors import (
    AccessDenied,
    DeadlineExceeded,
    DuplicateKey,
    InvalidRecord,
    InvalidValue,
    MissingRequired,
    PlatformError,
    ReadOnlyAttribute,
    RecordNotFound,
    StateConflict,
    UnknownAttribute,
    UnknownEntity,
    UnknownOptionSet,
    UnknownProcess,
    UnknownRelationship,
    UnknownTarget,
    Unsupported,
    VersionMismatch,
)
from crmclient.metadata import (
    Attribute,
    Cascade,
    Entity,
    OptionSet,
    PlatformUser,
    Process,
    Relationship,
    RequiredLevel,
    SecurityRole,
    UserReports,
)
from crmclient.platform import SERVICE_CALL, Call, Create, Operation, Update
from crmclient.query.ast import ALL, Page, Query
from crmclient.text import fold
from crmclient.values import parse_guid
from tests.plain_tables.cells import checked, from_cell, to_cell
from tests.plain_tables.queries import Statement, likes, name_of, pairs
from tests.plain_tables.tables import ATTRIBUTES, CONVENTIONS, ENTITIES, FIRM, MEMBER, PERSON, RELATIONSHIPS

SERVICE: Final = "00000000-0000-4000-8000-0000000000aa"
FIRST_EDITION: Final = 1001


class PlainTables:
    """Firms, persons and members, in memory unless `path` names a file.

    It has neither files nor processes nor many-to-many relationships, and only what `conventions` declare of
    the rest. Calls wait for each other.
    """

    local_revision_sql: str | None = None

    def __init__(self, path: str = ":memory:", conventions: Conventions = CONVENTIONS) -> None:
        self.conventions = conventions
        self._turn = threading.RLock()
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.create_function("folded", 1, lambda text: text and fold(text), deterministic=True)
        self._database.create_function("likes", 2, likes, deterministic=True)
        for entity, attributes in ATTRIBUTES.items():
            columns = ", ".join(f"{name} {'UNIQUE' if name == 'number' else ''}" for name in attributes)
            self._database.execute(f"CREATE TABLE IF NOT EXISTS {entity} ({columns}, UNIQUE ({entity}_key))")
        if not self._found(MEMBER, SERVICE):
            self._insert(MEMBER, {"member_key": SERVICE, "label": "The service"})

    # Records

    def create(
        self, entity: str, values: Values, *, id: Guid | None = None, call: Call = SERVICE_CALL
    ) -> Stored:
        with self._work(call):
            return self._create(entity, values, id, call)

    def retrieve(self, entity: str, id: Guid, columns: Sequence[str], *, call: Call = SERVICE_CALL) -> Record:
        with self._work(call):
            return self._read(entity, id, columns)

    def update(
        self,
        entity: str,
        id: Guid,
        values: Values,
        *,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> Stored:
        with self._work(call):
            return self._update(entity, id, values, if_version)

    def upsert(
        self,
        entity: str,
        key: Values,
        values: Values,
        *,
        exists: bool | None = None,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> Upserted:
        if Ability.UPSERTS not in self.conventions.abilities:
            raise Unsupported("Records are written by their ids.")
        must_exist = exists is True or if_version is not None
        attributes, update = self.attributes(entity), exists is not False
        named = checked_key(
            ENTITIES[entity], attributes, key, values, may_create=not must_exist, may_update=update
        )
        with self._work(call):
            cells = self._checked(entity, key, creates=True, whole=False)
            same = " AND ".join(f"folded({name}) = folded(?)" for name in cells)
            row = self._database.execute(
                f"SELECT {entity}_key FROM {entity} WHERE {same}", [*cells.values()]
            ).fetchone()
            if row is None and must_exist:
                raise unknown_record(ENTITIES[entity], key)
            if row is None:
                made = self._create(entity, {**key, **values}, None, call)
                return Upserted(made.id, made.version, created=True)
            if not update:
                raise DuplicateKey(entity, named.name)
            stored = self._update(entity, row[0], values, if_version)
            return Upserted(stored.id, stored.version, created=False)

    def delete(
        self, entity: str, id: Guid, *, if_version: str | None = None, call: Call = SERVICE_CALL
    ) -> None:
        with self._work(call):
            self._delete(entity, id, if_version)

    def batch(self, operations: Sequence[Operation], *, call: Call = SERVICE_CALL) -> list[Stored | None]:
        if Ability.BATCHES not in self.conventions.abilities:
            raise Unsupported("Several records are not written at once.")
        with self._work(call):
            return [self._item(at, operation, call) for at, operation in enumerate(operations)]

    def associate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        self.attributes(entity)
        raise UnknownRelationship(entity, relationship)

    def disassociate(
        self, entity: str, id: Guid, relationship: str, related: Guid, *, call: Call = SERVICE_CALL
    ) -> None:
        self.attributes(entity)
        raise UnknownRelationship(entity, relationship)

    def query(self, query: Query, page: Page = ALL, *, call: Call = SERVICE_CALL) -> QueryResult:
        self.attributes(query.entity)
        asked = Statement(query, page, self.conventions.abilities)
        with self._work(call):
            rows = [_row(asked, row) for row in self._database.execute(*asked.rows())]
            total = self._database.execute(*asked.total()).fetchone()[0] if page.total else None
        more = page.size is not None and len(rows) > page.size
        if total is not None and query.top is not None:
            total = min(total, query.top)
        return QueryResult(rows[: page.size], asked.token() if more else None, total)

    # What plain tables do not have

    def upload(
        self,
        entity: str,
        id: Guid,
        attribute: str,
        content: BinaryIO,
        *,
        file_name: str,
        content_type: str,
        if_version: str | None = None,
        call: Call = SERVICE_CALL,
    ) -> FileInfo:
        with self._work(call):
            self._refuse_file(entity, id)

    def download(
        self,
        entity: str,
        id: Guid,
        attribute: str,
        *,
        start: int = 0,
        length: int | None = None,
        known: FileInfo | None = None,
        call: Call = SERVICE_CALL,
    ) -> Download | None:
        with self._work(call):
            self._refuse_file(entity, id)

    def thumbnail(
        self, entity: str, id: Guid, attribute: str, *, call: Call = SERVICE_CALL
    ) -> Download | None:
        with self._work(call):
            self._refuse_file(entity, id)

    def execute(
        self,
        process: str,
        inputs: ProcessValues,
        *,
        target: Reference | None = None,
        call: Call = SERVICE_CALL,
    ) -> ProcessValues:
        with self._work(call):
            raise UnknownProcess(process)

    # Metadata

    def entities(self) -> Mapping[str, Entity]:
        return ENTITIES

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        if entity not in ATTRIBUTES:
            raise UnknownEntity(entity)
        return ATTRIBUTES[entity]

    def relationships(self, entity: str) -> Sequence[Relationship]:
        self.attributes(entity)
        return [
            relationship
            for relationship in RELATIONSHIPS
            if entity in (relationship.referenced, relationship.referencing)
        ]

    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        attribute = self.attributes(entity).get(name) if entity is not None else None
        if attribute is None or attribute.options is None:
            raise UnknownOptionSet(name)
        return attribute.options

    def option_sets(self) -> Mapping[str, OptionSet]:
        return {}

    def processes(self) -> Mapping[str, Process]:
        return {}

    def languages(self) -> Sequence[int]:
        return (1033,)

    def security_roles(self) -> Sequence[SecurityRole]:
        return ()

    def metadata_revision(self) -> str:
        return "1"

    # Users

    def who(self) -> Guid:
        if self.conventions.users is None:
            raise Unsupported("There are no users.")
        return SERVICE

    def user(self, id: Guid) -> PlatformUser:
        if self.conventions.users is None:
            raise RecordNotFound(MEMBER, id)
        member = self._read(MEMBER, id, ("label", "away")).values
        return PlatformUser(id, str(member["label"]), bool(member["away"]), "", (), (), ())

    def reports(self, id: Guid, *, call: Call = SERVICE_CALL) -> UserReports:
        return UserReports()

    # How it is done

    @contextmanager
    def _work(self, call: Call) -> Iterator[None]:
        """All of it or nothing, in turn."""
        with self._turn:
            if call.deadline is not None and time.monotonic() >= call.deadline:
                raise DeadlineExceeded("Too late.")
            if call.caller is not None and not self._found(MEMBER, call.caller):
                raise AccessDenied("There is no such member.")
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def _item(self, at: int, operation: Operation, call: Call) -> Stored | None:
        try:
            if isinstance(operation, Create):
                return self._create(operation.entity, operation.values, operation.id, call)
            if isinstance(operation, Update):
                return self._update(operation.entity, operation.id, operation.values, operation.if_version)
            self._delete(operation.entity, operation.id, operation.if_version)
        except PlatformError as error:
            error.item = at
            raise
        return None

    def _create(self, entity: str, values: Values, id: Guid | None, call: Call) -> Stored:
        written = self._checked(entity, values, creates=True)
        key = ENTITIES[entity].primary_id
        id = written[key] = id or written.get(key) or new_guid()
        if entity != MEMBER:
            actor = call.caller or SERVICE
            written |= {"made_by": actor, "made_at": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())}
            written.setdefault("keeper", actor)
        if entity == FIRM:
            written |= {"edition": FIRST_EDITION, "stage": written.get("stage") or 0}
        self._insert(entity, written)
        self._compose(entity, id)
        return Stored(id, self._version(entity, id))

    def _update(self, entity: str, id: Guid, values: Values, if_version: str | None) -> Stored:
        self.attributes(entity)
        id = self._required(entity, id, if_version)
        written = self._checked(entity, values, creates=False)
        if entity == FIRM:
            written["edition"] = int(self._version(entity, id) or 0) + 1
        sets = ", ".join(f"{name} = ?" for name in written)
        if written:
            self._run(entity, f"UPDATE {entity} SET {sets} WHERE {entity}_key = ?", [*written.values(), id])
        self._compose(entity, id)
        return Stored(id, self._version(entity, id))

    def _delete(self, entity: str, id: Guid, if_version: str | None) -> None:
        self.attributes(entity)
        id = self._required(entity, id, if_version)
        for relationship in self.relationships(entity):
            if relationship.referenced == entity and relationship.referencing_attribute:
                there = f"{relationship.referencing} WHERE {relationship.referencing_attribute} = ?"
                if relationship.on_delete is Cascade.RESTRICT:
                    if self._database.execute(f"SELECT 1 FROM {there}", [id]).fetchone():
                        raise StateConflict(f"A {relationship.referencing} refers to it.")
                else:
                    changed = f"{relationship.referencing} SET {relationship.referencing_attribute} = NULL"
                    self._database.execute(
                        f"UPDATE {changed} WHERE {relationship.referencing_attribute} = ?", [id]
                    )
        self._database.execute(f"DELETE FROM {entity} WHERE {entity}_key = ?", [id])

    def _read(self, entity: str, id: Guid, columns: Sequence[str]) -> Record:
        attributes = self.attributes(entity)
        unknown = [UnknownAttribute(name, "There is none.") for name in columns if name not in attributes]
        if unknown:
            raise InvalidRecord(entity, unknown)
        id = self._required(entity, id, None)
        cells = [
            cell
            for name in columns
            for cell in (
                f"t.{name}",
                name_of(attributes[name]) if attributes[name].type.is_reference else "NULL",
            )
        ]
        selected = ", ".join(cells) or "NULL"
        row = self._database.execute(
            f"SELECT {selected} FROM {entity} t WHERE t.{entity}_key = ?", [id]
        ).fetchone()
        values = {
            name: from_cell(attributes[name], cell, told)
            for name, (cell, told) in zip(columns, pairs(row if columns else ()), strict=True)
        }
        return Record(entity, id, self._version(entity, id), values)

    def _checked(self, entity: str, values: Values, *, creates: bool, whole: bool = True) -> dict[str, Any]:
        """The cells to write; of a `whole` record. Raises InvalidRecord with every wrong value."""
        attributes, problems, cells = self.attributes(entity), [], {}
        for name, value in values.items():
            try:
                cells[name] = self._cell(attributes.get(name), name, value, creates)
            except InvalidValue as error:
                problems.append(error)
        if creates and whole:
            missing = [
                one for name, one in attributes.items() if one.is_required and values.get(name) is None
            ]
            problems += [MissingRequired(one.logical_name, "A value is needed.") for one in missing]
        if problems:
            raise InvalidRecord(entity, {one.attribute: one for one in problems}.values())
        return cells

    def _cell(self, attribute: Attribute | None, name: str, value: Value, creates: bool) -> Any:
        if attribute is None:
            raise UnknownAttribute(name, "There is none.")
        if not (attribute.creatable if creates else attribute.updatable):
            raise ReadOnlyAttribute(name, "It is kept by the table.")
        if value is None or value == "":
            if attribute.required in (RequiredLevel.APPLICATION, RequiredLevel.SYSTEM):
                raise MissingRequired(name, "A value is needed.")
            return None
        value = checked(attribute, value)
        if isinstance(value, Reference) and not self._found(value.entity, value.id):
            raise UnknownTarget(name, f"There is no {value.entity} with id {value.id}.")
        return to_cell(attribute, value)

    def _required(self, entity: str, id: Guid, if_version: str | None) -> Guid:
        """The id in its canonical form. Raises RecordNotFound, VersionMismatch."""
        self.attributes(entity)
        try:
            canonical = parse_guid(id)
        except ValueError:
            raise RecordNotFound(entity, id) from None
        if not self._found(entity, canonical):
            raise RecordNotFound(entity, id)
        if if_version is not None and if_version != self._version(entity, canonical):
            raise VersionMismatch(entity, canonical)
        return canonical

    def _found(self, entity: str, id: Guid) -> bool:
        sql = f"SELECT 1 FROM {entity} WHERE {entity}_key = ?"
        return self._database.execute(sql, [id]).fetchone() is not None

    def _version(self, entity: str, id: Guid) -> str | None:
        if self.conventions.version_of(entity, ATTRIBUTES[entity]) is None:
            return None
        sql = f"SELECT edition FROM {entity} WHERE {entity}_key = ?"
        return str(self._database.execute(sql, [id]).fetchone()[0])

    def _compose(self, entity: str, id: Guid) -> None:
        if entity == PERSON:
            name = "TRIM(COALESCE(given, '') || ' ' || family)"
            self._database.execute(f"UPDATE person SET called = {name} WHERE person_key = ?", [id])

    def _insert(self, entity: str, cells: Mapping[str, Any]) -> None:
        marks = ", ".join("?" * len(cells))
        self._run(entity, f"INSERT INTO {entity} ({', '.join(cells)}) VALUES ({marks})", [*cells.values()])

    def _run(self, entity: str, sql: str, values: Sequence[Any]) -> None:
        try:
            self._database.execute(sql, values)
        except sqlite3.IntegrityError as error:
            # UNIQUE constraint failed: firm.number
            raise DuplicateKey(entity, str(error).rpartition(".")[2]) from error

    def _refuse_file(self, entity: str, id: Guid) -> NoReturn:
        self._required(entity, id, None)
        raise Unsupported("There are no files.")


def _row(asked: Statement, row: tuple[Any, ...]) -> dict[str, Value]:
    return {
        column.alias or column.attribute: from_cell(asked.held(column), cell, name)
        for column, (cell, name) in zip(asked.columns, pairs(row), strict=True)
    }

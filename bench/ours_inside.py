"""The bench's work inside our service's process, where Django is set up: see COMMANDS."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from django.db import connection

from bench import edits_inside
from bench.portal import inside as portal
from bench.world import (
    ACCOUNTS,
    FILE_BYTES,
    FILE_NAME,
    Account,
    Choice,
    Contact,
    World,
    account_name,
    account_phone,
    copied,
)
from crmbox.engine.connection import read_unit
from crmclient import Create, Reference, Value
from crmclient.metadata import OptionSet
from crmclient.query.ast import Column, Order, Query
from designer.models import Binding, Endpoint, EndpointRole, Input
from designer.models import Column as EndpointColumn
from designer.models import Module as EndpointModule
from designer.platform import get_platform

BATCH = 500
RECORD = ("name", "telephone1", "revenue", "industrycode", "primarycontactid")
LIST_COLUMNS = (
    ("accountid", "id"),
    ("name", ""),
    ("telephone1", "phone"),
    ("revenue", ""),
    ("industrycode", "industry"),
)
READ_COLUMNS = (*LIST_COLUMNS, ("primarycontactid", "primaryContact"), ("createdon", "createdOn"))
LIST = """<fetch><entity name="account"><attribute name="accountid"/><attribute name="name"/>
  <attribute name="telephone1"/><attribute name="revenue"/><attribute name="industrycode"/>
  <order attribute="name"/></entity></fetch>"""
# Names, conditions and parameters of the lists that are read at size.
SIZE_LISTS = (
    ("size", "", ""),
    (
        "size-phone",
        '<filter><condition attribute="telephone1" operator="eq" value="@phone"/></filter>',
        "phone",
    ),
    (
        "size-piece",
        '<filter><condition attribute="name" operator="contains" value="@piece"/></filter>',
        "piece",
    ),
)
_SQLITE_GUID = (
    "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) "
    "|| '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
)
# The kinds of the demo's endpoints that the bench has leaner ones for.
LEAN = ("read", "delete", "upload", "download", "action", "single-query", "multi-query", "paginated-query")


def fill(target: str) -> None:
    """Accounts until there are ACCOUNTS, a file for one, and the bench's world written to `target`."""
    platform = get_platform()
    there = len(platform.query(Query("account", (Column("accountid"),))).rows)
    contacts = platform.query(Query("contact", (Column("contactid"), Column("fullname")))).rows
    industries = _choices(platform.option_set("industrycode", entity="account"))
    missing = [
        Create(
            "account",
            {
                "name": account_name(number),
                "telephone1": account_phone(number),
                "revenue": Decimal(number * 7919 % 100_000_000) / 10_000 + 1_000_000,
                "industrycode": industries[number % len(industries)].value,
                "primarycontactid": Reference("contact", str(contacts[number % len(contacts)]["contactid"])),
            },
        )
        for number in range(there, ACCOUNTS)
    ]
    for start in range(0, len(missing), BATCH):
        platform.batch(missing[start : start + BATCH])
    columns = tuple(Column(name) for name in ("accountid", *RECORD, "createdon"))
    accounts = platform.query(Query("account", columns, orders=(Order("accountid"),))).rows
    document = Path(target).with_name(FILE_NAME)
    document.write_bytes(b"%PDF-1.4\n" + os.urandom(FILE_BYTES - 9))
    with document.open("rb") as content:
        platform.upload(
            "account",
            str(accounts[0]["accountid"]),
            "new_contract",
            content,
            file_name=FILE_NAME,
            content_type="application/pdf",
        )
    World(
        priorities=_choices(platform.option_set("new_priority")),
        industries=industries,
        contacts=[Contact(str(row["contactid"]), str(row["fullname"])) for row in contacts],
        accounts=[_account(row) for row in accounts],
        document=str(document),
    ).write(Path(target))


def grow(copies: str) -> None:
    """So many times the accounts, and the lists that are read at size.

    Copied within the database: created one by one they would take most of an hour.
    """
    with read_unit() as unit:
        stored, dialect = unit.snapshot.entity("account"), unit.dialect.name
    columns, number = stored.columns, stored.columns["accountnumber"]
    guid = "gen_random_uuid()" if dialect == "postgresql" else _SQLITE_GUID
    # Numbers are unique, and the bench reads none.
    changed = {stored.id_column.name: guid, number.name: "NULL", str(number.key): "NULL"}
    for text in (
        columns["name"].name,
        columns["name"].key,
        columns["telephone1"].name,
        columns["telephone1"].key,
    ):
        changed[str(text)] = f"{text} || copies.suffix"
    names = [
        physical
        for column in columns.values()
        for physical in (column.name, column.key, column.target)
        if physical is not None
    ]
    values = ", ".join(changed.get(name, f'"{name}"') for name in names)
    listed = ", ".join(f'"{name}"' for name in names)
    suffixes = ", ".join(f"('{copied('', copy)}')" for copy in range(1, int(copies)))
    if suffixes:
        with connection.cursor() as cursor:
            cursor.execute(
                f"WITH copies(suffix) AS (VALUES {suffixes}) INSERT INTO {stored.table} ({listed}) "
                f"SELECT {values} FROM {stored.table} CROSS JOIN copies"
            )
            if dialect == "postgresql":
                cursor.execute("VACUUM ANALYZE")
    _list_at_size()


def _list_at_size() -> None:
    module = EndpointModule.objects.get(segment="sales")
    roles = list(EndpointRole.objects.filter(endpoint__kind="create", endpoint__module=module))
    for name, condition, parameter in SIZE_LISTS:
        query = LIST.replace("<order", f"{condition}<order")
        endpoint = Endpoint.objects.create(
            kind="paginated-query", module=module, name=name, settings={"query": query}
        )
        if parameter:
            Input.objects.create(endpoint=endpoint, name=parameter, type="String", required=True)
        EndpointRole.objects.bulk_create(
            EndpointRole(endpoint=endpoint, role_id=role) for role in {each.role_id for each in roles}
        )
        EndpointColumn.objects.bulk_create(
            EndpointColumn(endpoint=endpoint, attribute=attribute, name=name, position=at)
            for at, (attribute, name) in enumerate(LIST_COLUMNS)
        )


def _account(row: Mapping[str, Value]) -> Account:
    contact, revenue, created = row["primarycontactid"], row["revenue"], row["createdon"]
    assert isinstance(created, datetime)
    return Account(
        id=str(row["accountid"]),
        name=str(row["name"]),
        phone=cast("str | None", row["telephone1"]),
        revenue=None if revenue is None else str(revenue),
        industry=cast("int | None", row["industrycode"]),
        contact=contact.id if isinstance(contact, Reference) else None,
        created=created.isoformat(),
    )


def _choices(option_set: OptionSet) -> list[Choice]:
    return [
        Choice(option.value, option.hidden, {str(lcid): text for lcid, text in option.label.texts.items()})
        for option in option_set.options
    ]


def configure(count: str) -> None:
    """What the bench reads, then copies of the create endpoint with all its parts until `count` are there."""
    model = Endpoint.objects.get(
        kind="create", module__segment="sales", entity__segment="accounts", segment=""
    )
    _lean(model)
    missing = int(count) - Endpoint.objects.count()
    copies = Endpoint.objects.bulk_create(
        [
            Endpoint(kind=model.kind, module=model.module, entity=model.entity, segment=f"accounts-{number}")
            for number in range(1, missing + 1)
        ],
        batch_size=BATCH,
    )
    # Lists are not what is raced: only what stands in the endpoint itself is copied. A list without its items
    # would block the copy.
    parts: dict[Any, dict[str, Any]] = {
        EndpointRole: {},
        Input: {"parent": None, "relationship": ""},
        Binding: {"parent": None},
    }
    for part, own in parts.items():
        rows = list(part.objects.filter(endpoint=model, **own).values())
        for row in rows:
            del row["id"], row["endpoint_id"]
        part.objects.bulk_create(
            [part(endpoint=copy, **row) for copy in copies for row in rows], batch_size=BATCH
        )


def _lean(model: Endpoint) -> None:
    """A read, an update, a download and a list with the columns and inputs that the others have, too.

    The demo's own endpoints of accounts make room, so that ten endpoints are ten.
    """
    update = Endpoint.objects.get(kind="update", entity=model.entity)
    keep = {model.pk, update.pk, *Endpoint.objects.filter(name="priorities").values_list("pk", flat=True)}
    Endpoint.objects.filter(kind__in=LEAN).exclude(pk__in=keep).delete()
    Endpoint.objects.filter(pk=update.pk).update(segment="bench")
    place = {"module": model.module, "entity": model.entity, "segment": "bench"}
    made = [
        (Endpoint.objects.create(kind="read", **place), READ_COLUMNS),
        (
            Endpoint.objects.create(
                kind="download", name="contract", settings={"attribute": "new_contract"}, **place
            ),
            (),
        ),
        (
            Endpoint.objects.create(
                kind="paginated-query",
                module=model.module,
                name="bench",
                settings={"query": LIST, "total": True},
            ),
            LIST_COLUMNS,
        ),
    ]
    roles = list(EndpointRole.objects.filter(endpoint=model).values_list("role_id", flat=True))
    for endpoint, columns in made:
        EndpointRole.objects.bulk_create(EndpointRole(endpoint=endpoint, role_id=role) for role in roles)
        EndpointColumn.objects.bulk_create(
            EndpointColumn(endpoint=endpoint, attribute=attribute, name=name, position=at)
            for at, (attribute, name) in enumerate(columns)
        )


def show(key: str) -> None:
    """Print the account with that id as JSON."""
    values = get_platform().retrieve("account", key, RECORD).values
    contact, revenue = values["primarycontactid"], values["revenue"]
    record = {
        "name": values["name"],
        "phone": values["telephone1"],
        "revenue": None if revenue is None else str(revenue),
        "industry": values["industrycode"],
        "contact": contact.id if isinstance(contact, Reference) else None,
    }
    sys.stdout.write(json.dumps(record))


COMMANDS = {
    "fill": fill,
    "grow": grow,
    "configure": configure,
    "show": show,
    "portal-records": portal.fill,
    "portal-endpoints": portal.configure,
    "edits": edits_inside.edits,
    "edit": edits_inside.edit,
}

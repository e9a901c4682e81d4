"""The bench's work inside our service's process, where Django is set up: see COMMANDS."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import cast

from bench.world import ACCOUNTS, FILE_BYTES, FILE_NAME, Account, Choice, Contact, World, account_name
from crmclient import Create, Reference, Value
from crmclient.metadata import OptionSet
from crmclient.query.ast import Column, Order, Query
from designer.models import Binding, Endpoint, EndpointRole, Input
from designer.models import Column as EndpointColumn
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
# The kinds of the demo's endpoints that the bench has leaner ones for.
LEAN = ("read", "delete", "upload", "download", "action", "single-query", "multi-query", "paginated-query")


def fill(target: str) -> None:
    """Accounts until there are ACCOUNTS, a file for one, and the bench's world written to `target`."""
    platform = get_platform()
    there = len(platform.query(Query("account", (Column("accountid"),))).rows)
    missing = [Create("account", {"name": account_name(number)}) for number in range(there, ACCOUNTS)]
    for start in range(0, len(missing), BATCH):
        platform.batch(missing[start : start + BATCH])
    columns = tuple(Column(name) for name in ("accountid", *RECORD, "createdon"))
    accounts = platform.query(Query("account", columns, orders=(Order("accountid"),))).rows
    contacts = platform.query(Query("contact", (Column("contactid"), Column("fullname")))).rows
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
        industries=_choices(platform.option_set("industrycode", entity="account")),
        contacts=[Contact(str(row["contactid"]), str(row["fullname"])) for row in contacts],
        accounts=[_account(row) for row in accounts],
        document=str(document),
    ).write(Path(target))


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
    for part in (EndpointRole, Input, Binding):
        # Lists are not what is raced: only what stands in the endpoint itself is copied.
        own = {} if part is EndpointRole else {"parent": None}
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


COMMANDS = {"fill": fill, "configure": configure, "show": show}

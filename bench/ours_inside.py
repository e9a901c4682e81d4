"""The bench's work inside our service's process, where Django is set up: see COMMANDS."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.world import ACCOUNTS, Choice, World, account_name
from crmclient import Create, Reference
from crmclient.metadata import OptionSet
from crmclient.query.ast import Column, Query
from designer.models import Binding, Endpoint, EndpointRole, Input
from designer.platform import get_platform

BATCH = 500
RECORD = ("name", "telephone1", "revenue", "industrycode", "primarycontactid")


def fill(target: str) -> None:
    """Accounts until there are ACCOUNTS, and the bench's world written to `target`."""
    platform = get_platform()
    there = len(platform.query(Query("account", (Column("accountid"),))).rows)
    missing = [Create("account", {"name": account_name(number)}) for number in range(there, ACCOUNTS)]
    for start in range(0, len(missing), BATCH):
        platform.batch(missing[start : start + BATCH])
    contacts = platform.query(Query("contact", (Column("contactid"),))).rows
    World(
        priorities=_choices(platform.option_set("new_priority")),
        industries=_choices(platform.option_set("industrycode", entity="account")),
        contacts=[str(row["contactid"]) for row in contacts],
    ).write(Path(target))


def _choices(option_set: OptionSet) -> list[Choice]:
    return [
        Choice(option.value, option.hidden, {str(lcid): text for lcid, text in option.label.texts.items()})
        for option in option_set.options
    ]


def configure(count: str) -> None:
    """Copies of the demo's create endpoint, with inputs, bindings and roles, until `count` are configured."""
    model = Endpoint.objects.get(
        kind="create", module__segment="sales", entity__segment="accounts", segment=""
    )
    missing = int(count) - Endpoint.objects.count()
    copies = Endpoint.objects.bulk_create(
        [
            Endpoint(kind=model.kind, module=model.module, entity=model.entity, segment=f"accounts-{number}")
            for number in range(1, missing + 1)
        ],
        batch_size=BATCH,
    )
    for part in (EndpointRole, Input, Binding):
        rows = list(part.objects.filter(endpoint=model).values())
        for row in rows:
            del row["id"], row["endpoint_id"]
        part.objects.bulk_create(
            [part(endpoint=copy, **row) for copy in copies for row in rows], batch_size=BATCH
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

"""Requests to a CRM server whose database somebody else is writing to for longer than anybody waits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.servers import Site
from tests.webapi import batches
from tests.webapi.crm import Crm, service

ATTRIBUTE = {
    "@odata.type": "Microsoft.Dynamics.CRM.StringAttributeMetadata",
    "SchemaName": "new_Nickname",
    "DisplayName": {"LocalizedLabels": [{"Label": "Nickname", "LanguageCode": 1033}]},
    "MaxLength": 40,
}
LINKED = {"name": "Waits", "primarycontactid": {"lastname": "Waits"}}

# One write, writes that share a transaction, and a change of the metadata.
WRITES: dict[str, Callable[[Crm], requests.Response]] = {
    "a record": lambda crm: crm.send("POST", "accounts", json={"name": "Waits"}),
    "a record with a linked one": lambda crm: crm.send("POST", "accounts", json=LINKED),
    "a change set": lambda crm: batches.send(
        crm,
        batches.change_set(batches.request("POST", f"{crm.base}accounts", {"name": "Waits"}, id="1")),
    ),
    "an attribute": lambda crm: crm.send(
        "POST", "EntityDefinitions(LogicalName='contact')/Attributes", json=ATTRIBUTE
    ),
}


@pytest.mark.sqlite
def test_every_write_is_told_to_come_back(site: Site) -> None:
    crm = service(site.start_crm())
    other = sqlite3.connect(site.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(len(WRITES)) as pool:
        sent = {name: pool.submit(write, crm) for name, write in WRITES.items()}
        answers = {name: answer.result() for name, answer in sent.items()}
    other.close()

    assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(WRITES, 503)
    for answer in answers.values():
        assert answer.headers["Retry-After"] == "1"
        assert answer.json()["error"]["message"] == "The store is busy with other writers."
    assert WRITES["a record with a linked one"](crm).status_code == 204

"""Several server processes on one configuration: each sees an edit at its next request, and none is lost."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from urllib.parse import urlsplit

import pytest
import requests

from tests.servers import ANSWER_SECONDS, Server, Site, until

pytestmark = pytest.mark.processes
ACCOUNTS = "/api/sales/accounts"


def _post(server: Server, token: str, body: dict[str, object]) -> requests.Response:
    return server.request("POST", ACCOUNTS, json=body, headers={"Authorization": f"Bearer {token}"})


def test_an_edit_through_one_process_is_seen_by_the_other_at_once(site: Site) -> None:
    one, two = site.start(), site.start()
    token = two.token("rep")
    assert _post(two, token, {"name": "Before"}).status_code == 200
    site.manage("shell", "-c", _REMOVE_ROLE)
    assert _post(two, token, {"name": "After"}).status_code == 403
    assert _post(one, token, {"name": "After"}).status_code == 403


_REMOVE_ROLE = """
from designer.models import Endpoint, Role
create = Endpoint.objects.get(kind="create", entity__segment="accounts")
create.roles.remove(Role.objects.get(name="sales-rep"))
"""
_EDIT = """
from designer.models import Endpoint, Input
create = Endpoint.objects.get(kind="create", entity__segment="accounts")
for number in range({edits}):
    Input.objects.filter(endpoint=create, name="phone").update(max_length=20 + number)
    settings = {{"option_set": "new_priority"}}
    options = Endpoint(kind="option-set", name=f"under-load-{{number}}", settings=settings)
    options.authentication_required = False
    options.save()
"""


def test_a_configuration_changed_under_load_loses_no_request(site: Site) -> None:
    server = site.start(CALLER_RATE="0", ADDRESS_RATE="0")
    token = server.token("rep")
    statuses: Counter[int] = Counter()
    stop = threading.Event()

    def load() -> None:
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {token}"
        while not stop.is_set():
            account = {"name": "Load", "phone": "123"}
            created = session.post(server.url + ACCOUNTS, json=account, timeout=ANSWER_SECONDS)
            listed = session.get(f"{server.url}/optionsets/priorities", timeout=ANSWER_SECONDS)
            statuses.update((created.status_code, listed.status_code))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: statuses.total() > 50)
        site.manage("shell", "-c", _EDIT.format(edits=40))
        then = statuses.total()
        until(lambda: statuses.total() > then + 50)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert set(statuses) == {200}, statuses
    assert server.request("GET", "/optionsets/under-load-39").status_code == 200


def test_a_killed_process_leaves_no_half_created_record_and_the_repetition_creates_one(site: Site) -> None:
    first = site.start(CALLER_RATE="0")
    token = first.token("rep")
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "killed"}
    answer = first.request("POST", ACCOUNTS, json={"name": "Survivor"}, headers=headers)
    id = answer.json()["id"]
    # As if the process had died between the platform's answer and its own.
    site.manage("shell", "-c", _ABANDON)
    first.kill()
    second = site.start(CALLER_RATE="0")
    again = second.request("POST", ACCOUNTS, json={"name": "Survivor"}, headers=headers)
    assert again.status_code == 200, again.text
    assert again.json()["id"] == id


_ABANDON = """
import datetime
from django.utils import timezone
from runtime.models import IdempotencyRecord
IdempotencyRecord.objects.update(status=None, deadline=timezone.now() - datetime.timedelta(seconds=1))
"""


def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(site: Site) -> None:
    server = site.start(CALLER_RATE="0")
    token = server.token("rep")
    address = urlsplit(server.url)
    head = (
        f"POST {ACCOUNTS} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 400\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(
        (address.hostname or "", address.port or 0), timeout=ANSWER_SECONDS
    ) as connection:
        connection.sendall(head.encode() + b'{"name": "Dropped half-way"}')
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").read()
    assert b" 200 " not in answer.split(b"\r\n")[0]
    assert "0 dropped" in site.manage("shell", "-c", _COUNT_DROPPED)


_COUNT_DROPPED = """
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from designer.platform import get_platform
named = Filter((Condition("name", Operator.EQ, ("Dropped half-way",)),))
found = get_platform().query(Query("account", columns=(Column("accountid"),), filter=named))
print(len(found.rows), "dropped")
"""

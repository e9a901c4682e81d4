"""The same requests to every application: the same status and in essence the same answer, or no race."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from bench.http import Answer, send
from bench.tokens import altered
from bench.world import FILE_BYTES, Account, World

ACCOUNTS = "/api/sales/accounts"
BENCH = "/api/sales/bench"
LISTED = "/api/sales/queries/bench"
PRIORITIES = "/optionsets/priorities"
# The record with that id: name, phone, revenue (exact text), industry, contact.
Stored = Callable[[str], Mapping[str, Any]]


class NotTheSame(Exception):
    """An application that behaves otherwise: what was asked, wanted and answered."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An application under examination. `stored` reads a record around the API."""

    name: str
    port: int
    rep: str
    agent: str
    stored: Stored


def examine(candidate: Candidate, world: World) -> int:
    """Raises NotTheSame at the first difference; returns how many requests agreed."""
    examination = _Examination(candidate, world)
    for part in (
        examination.option_sets,
        examination.tokens,
        examination.reads,
        examination.pages,
        examination.refusals,
        examination.writes,
        examination.changes,
    ):
        part()
    return examination.count


class _Examination:
    def __init__(self, candidate: Candidate, world: World) -> None:
        self.candidate = candidate
        self.world = world
        self.count = 0

    def option_sets(self) -> None:
        for lcid in ("1033", "1025", "2052", "9999"):
            answer = self.ask("GET", f"{PRIORITIES}?lcid={lcid}", status=200)
            wanted = [
                {"name": choice.labels.get(lcid, choice.labels["1033"]), "value": choice.value}
                for choice in self.world.priorities
                if not choice.hidden
            ]
            self.same(f"labels in {lcid}", wanted, answer.body)
        self.ask("GET", PRIORITIES, status=200)
        for query in ("lcid=abc", "lcid=1033&lcid=1025", "colour=red"):
            self.ask("GET", f"{PRIORITIES}?{query}", status=400)
        self.ask("GET", PRIORITIES, token="not.a.token", status=401)
        self.ask("POST", PRIORITIES, status=405)

    def tokens(self) -> None:
        rep = self.candidate.rep
        for token in (
            None,
            "not.a.token",
            altered(rep, key="another-key-that-is-long-enough-for-hs256"),
            altered(rep, exp=int(time.time()) - 1),
            altered(rep, exp=None),
            altered(rep, aud="another-audience"),
            altered(rep, iss="another-issuer"),
        ):
            answer = self.create({"name": "No"}, token=token, status=401)
            self.same("a challenge", True, "www-authenticate" in answer.headers)
        self.create({"name": "No"}, token=self.candidate.agent, status=403)

    def refusals(self) -> None:
        bad: tuple[tuple[str, set[str]], ...] = (
            ('{"phone": "1"}', {"/name"}),
            ('{"name": null}', {"/name"}),
            ('{"name": "  "}', {"/name"}),
            ('{"name": 5}', {"/name"}),
            ('{"name": "a\\u0000b"}', {"/name"}),
            (json.dumps({"name": "n" * 161}), {"/name"}),
            ('{"name": "n", "phone": "%s", "revenue": 1.23456, "industry": 987654}' % ("1" * 51),
             {"/phone", "/revenue", "/industry"}),
            ('{"name": "n", "nope": 1, "phone": 1}', {"/nope", "/phone"}),
            ('{"name": "n", "revenue": 922337203685477.5808}', {"/revenue"}),
            ('{"name": "n", "revenue": "much"}', {"/revenue"}),
            ('{"name": "n", "primaryContactId": "x"}', {"/primaryContactId"}),
            (json.dumps({"name": "n", "primaryContactId": str(uuid.uuid4())}), {"/primaryContactId"}),
        )  # fmt: skip
        for body, pointers in bad:
            answer = self.create(body, status=400)
            named = {error["pointer"] for error in answer.body.get("errors", [])}
            self.same(f"the inputs named for {body[:80]}", pointers, named)
        for body in ("{", '{"name": "a", "name": "b"}', '{"name": "a", "revenue": NaN}'):
            self.create(body, status=400)

    def writes(self) -> None:
        contact, industry = self.world.contacts[0].id, self.world.industries[0].value
        full = (
            '{"name": "Ünïcode 名", "phone": "+44", "revenue": 922337203685477.5807, '
            f'"industry": {industry}, "primaryContactId": "{contact}"}}'
        )
        self.stores(full, "Ünïcode 名", "+44", "922337203685477.5807", industry, contact)
        self.stores('{"name": "Text", "revenue": "0.1"}', "Text", None, "0.1", None, None)
        self.stores('{"name": "Least"}', "Least", None, None, None, None)

    def reads(self) -> None:
        names = {contact.id: contact.name for contact in self.world.contacts}
        with_contact = next(account for account in self.world.accounts if account.contact)
        for account in (self.world.accounts[0], self.world.accounts[-1], with_contact):
            answer = self.seen("GET", f"{BENCH}/{account.id}", status=200)
            contact = account.contact
            wanted = self.listed(account) | {
                "primaryContact": contact and {"id": contact, "name": names[contact]},
                "createdOn": datetime.fromisoformat(account.created).replace(microsecond=0),
            }
            got = self.exact(answer.body)
            got["createdOn"] = datetime.fromisoformat(got["createdOn"]).replace(microsecond=0)
            self.same(f"the account {account.id}", wanted, got)
            self.same("a tag of a version", True, "." in answer.headers["etag"])
        self.seen("GET", f"{BENCH}/{uuid.uuid4()}", status=404)
        self.seen("GET", f"{BENCH}/{self.world.accounts[0].id}?colour=red", status=400)
        self.ask("GET", f"{BENCH}/{self.world.accounts[0].id}", token=self.candidate.agent, status=403)
        file = f"{BENCH}/{self.world.accounts[0].id}/files/contract"
        answer = self.seen("GET", file, status=200)
        self.same("the length of the file", str(FILE_BYTES), answer.headers["content-length"])
        self.same("an attachment", True, answer.headers["content-disposition"].startswith("attachment"))

    def pages(self) -> None:
        seen: list[Any] = []
        cursor = ""
        for _ in range(3):
            answer = self.seen("GET", f"{LISTED}?pageSize=200{cursor}", status=200)
            self.same("all are counted", len(self.world.accounts), answer.body["totalRecordCount"])
            self.same("there is more", (200, True), (answer.body["count"], answer.body["hasMoreRecords"]))
            self.same("a link to it", True, 'rel="next"' in answer.headers["link"])
            seen += [self.exact(row) for row in answer.body["data"]]
            cursor = f"&cursor={answer.body['cursor']}"
        self.same("no row stands twice", 600, len({row["id"] for row in seen}))
        by_id = {account.id: account for account in self.world.accounts}
        self.same("rows of three pages", [self.listed(by_id[row["id"]]) for row in seen], seen)
        for query in ("pageSize=0", "pageSize=x", "colour=red", "cursor=x"):
            self.seen("GET", f"{LISTED}?{query}", status=400)
        self.ask("GET", LISTED, status=401)

    def changes(self) -> None:
        account = self.world.accounts[5]
        path = f"{BENCH}/{account.id}"
        before = self.seen("GET", path, status=200).headers["etag"]
        change = b'{"phone": "+1", "revenue": 0.5}'
        after = self.seen("PATCH", path, body=change, status=204).headers["etag"]
        self.same("another version", True, before.partition(".")[0] != after.strip('"'))
        got = self.exact(self.seen("GET", path, status=200).body)
        self.same("what was changed", ("+1", Decimal("0.5")), (got["phone"], got["revenue"]))
        self.same("what was not", account.name, got["name"])
        self.seen("PATCH", f"{BENCH}/{uuid.uuid4()}", body=change, status=404)
        for body in (b'{"phone": 1}', b'{"nope": 1}', b'{"name": null}', b"{"):
            self.seen("PATCH", path, body=body, status=400)

    def seen(self, method: str, path: str, *, status: int, body: bytes | None = None) -> Answer:
        """As `ask`, by one who may."""
        return self.ask(method, path, token=self.candidate.rep, status=status, body=body)

    def listed(self, account: Account) -> dict[str, Any]:
        return {
            "id": account.id,
            "name": account.name,
            "phone": account.phone,
            "revenue": None if account.revenue is None else Decimal(account.revenue),
            "industry": account.industry,
        }

    def exact(self, row: dict[str, Any]) -> dict[str, Any]:
        """Some send money as a number, some as text."""
        revenue = row["revenue"]
        return {**row, "revenue": None if revenue is None else Decimal(str(revenue))}

    def stores(self, body: str, *wanted: Any) -> None:
        answer = self.create(body, status=200)
        key = answer.body["id"]
        self.same("an id and no more", {"id": str(uuid.UUID(key))}, answer.body)
        record = dict(self.candidate.stored(key))
        record["revenue"] = None if record["revenue"] is None else Decimal(record["revenue"])
        columns = ("name", "phone", "revenue", "industry", "contact")
        expected = dict(zip(columns, wanted, strict=True))
        expected["revenue"] = None if expected["revenue"] is None else Decimal(expected["revenue"])
        self.same(f"the record of {body[:80]}", expected, record)

    def create(self, body: Any, *, status: int, token: str | None = "") -> Answer:
        text = body if isinstance(body, str) else json.dumps(body)
        used = self.candidate.rep if token == "" else token
        return self.ask("POST", ACCOUNTS, token=used, body=text.encode(), status=status)

    def ask(
        self, method: str, path: str, *, status: int, token: str | None = None, body: bytes | None = None
    ) -> Answer:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        answer = send(self.candidate.port, method, path, body=body, headers=headers)
        self.count += 1
        asked = f"{method} {path} {(body or b'').decode()[:200]} with token {(token or 'none')[-12:]}"
        self.same(f"the status of {asked} (answer: {answer.body})", status, answer.status)
        return answer

    def same(self, what: str, wanted: Any, got: Any) -> None:
        if wanted != got:
            raise NotTheSame(f"{self.candidate.name}: {what}: wanted {wanted!r}, got {got!r}")

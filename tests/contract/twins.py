"""Two services of one configuration, each before a platform of its own with the same data: one embedded, one
Dataverse over a socket. Whatever is asked goes to both, and what they say is compared, byte for byte.

Ids that either has made may differ, the same one always in the same way. So may the times of the test, row
versions (the numbers of a platform's own counter), the numbers of requests, what is sealed for one service
(cursors), and the digest of a body that holds any of these.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests

from tests.servers import ANSWER_SECONDS, Server

# Made by chance or the clock: ids, and numbers of cases, which say the day. The demo's own ids are fixed, or
# made of names (version 5), and its cases are numbered from 1: these must agree.
_MADE = re.compile(
    r"(?!00000000-)[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    r"|CAS-\d{6}-[A-Z0-9]{6}"
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SEALED = (
    (re.compile(r'("requestId":)"[^"]*"'), r'\1"…"'),
    (re.compile(r'("cursor":)"[^"]*"'), r'\1"…"'),
    (re.compile(r"(cursor=)[^>&]*"), r"\1…"),
    (re.compile(r'("version[nN]umber":)\d+'), r"\1…"),
)
_VERSION = re.compile(r'"\d+(?=[".])')
# What a file holds is known by an id, which Dataverse's client makes of the record's id and version.
_CONTENT = re.compile(r'"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"')
_OF_THE_CONNECTION = frozenset(
    {"date", "server", "x-request-id", "connection", "keep-alive", "transfer-encoding"}
)
Pair = tuple[str, str]
# Tokens live for five minutes, and each login takes half a second of a processor.
_TOKEN_SECONDS = 240


@dataclass(frozen=True)
class Answers:
    """What both said, `here` embedded and `there` Dataverse."""

    here: requests.Response
    there: requests.Response

    @property
    def status(self) -> int:
        return self.here.status_code

    @property
    def ids(self) -> Pair:
        """The id that each answers."""
        return self.here.json()["id"], self.there.json()["id"]

    @property
    def tags(self) -> Pair:
        return self.here.headers["ETag"], self.there.headers["ETag"]


@dataclass
class Twins:
    here: Server
    there: Server
    began: str = field(
        default_factory=lambda: f"{datetime.now(UTC) - timedelta(seconds=5):%Y-%m-%dT%H:%M:%SZ}"
    )
    statuses: dict[int, int] = field(default_factory=dict)
    _tokens: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)
    _pairs: dict[str, str] = field(default_factory=dict)
    _sessions: dict[str, requests.Session] = field(default_factory=dict)

    def ask(
        self,
        who: str | None,
        method: str,
        path: str,
        *,
        ids: Pair = ("", ""),
        tags: Pair | None = None,
        condition: str = "If-Match",
        ordered: bool = True,
        headers: Mapping[str, str] | None = None,
        bodies: tuple[Any, Any] | None = None,
        **options: Any,
    ) -> Answers:
        """`{id}` in the path stands for each one's own of `ids`; `tags` go as `condition`, `bodies` as JSON.

        What was made within one second has no order (`ordered` false).
        """
        said = []
        for at, server in enumerate((self.here, self.there)):
            sent = {**self._authorization(server, who), **(headers or {})}
            if tags is not None:
                sent[condition] = tags[at]
            body = {} if bodies is None else {"json": bodies[at]}
            url = server.url + path.replace("{id}", ids[at])
            session = self._session(server)
            answer = session.request(method, url, timeout=ANSWER_SECONDS, headers=sent, **body, **options)
            # A problem says no charset, which is not to be guessed anew at each look.
            answer.encoding = "utf-8"
            said.append(answer)
        answers = Answers(*said)
        # Only a failure says what was asked: a file of megabytes makes a long text.
        self._compare(lambda: f"{who}: {method} {path} {options}"[:2000], answers, ordered)
        self.statuses[answers.status] = self.statuses.get(answers.status, 0) + 1
        return answers

    def pages(self, who: str | None, path: str) -> Iterator[Answers]:
        """Every page: each one's `Link` leads to its next."""
        answers = self.ask(who, "GET", path)
        yield answers
        while answers.status == 200 and answers.here.json()["hasMoreRecords"]:
            ways = [self._next(answer) for answer in (answers.here, answers.there)]
            answers = self.ask(who, "GET", "{id}", ids=(ways[0], ways[1]))
            yield answers

    def _next(self, answer: requests.Response) -> str:
        return answer.headers["Link"].partition(">")[0].removeprefix("<")

    def _session(self, server: Server) -> requests.Session:
        """Thousands of questions go over few connections. No answer sets anything for the next."""
        if server.url not in self._sessions:
            session = self._sessions[server.url] = requests.Session()
            session.trust_env = False
            session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        return self._sessions[server.url]

    def _authorization(self, server: Server, who: str | None) -> dict[str, str]:
        if who is None:
            return {}
        key = (server.url, who)
        token, since = self._tokens.get(key, ("", -math.inf))
        if time.monotonic() - since > _TOKEN_SECONDS:
            # All of the questions may take a slow machine longer than one token lives.
            token, _ = self._tokens[key] = server.token(who), time.monotonic()
        return {"Authorization": f"Bearer {token}"}

    def _compare(self, asked: Callable[[], str], answers: Answers, ordered: bool) -> None:
        here, there = answers.here, answers.there
        assert here.status_code < 500, (asked(), here.text)
        assert here.status_code == there.status_code, (asked(), here.text, there.text)
        heads, bodies = [], []
        for answer in (here, there):
            body: str | bytes = answer.content
            if not _is_file(answer):
                body = self._without_chance(answer.text)
                body = body if ordered else _sorted(body)
            exact = answer.request.method != "HEAD" and body in (answer.content, answer.text)
            heads.append(self._head(answer, exact=exact and not _MADE.search(answer.text)))
            bodies.append(body)
        self._same(asked, bodies[0], bodies[1])
        self._same(asked, heads[0], heads[1])

    def _same(self, asked: Callable[[], str], here: str | bytes, there: str | bytes) -> None:
        if isinstance(here, str) and isinstance(there, str):
            for one, other in zip(_MADE.findall(here), _MADE.findall(there), strict=False):
                assert self._pairs.setdefault(one, other) == other, (asked(), here, there)
            here, there = _MADE.sub("<id>", here), _MADE.sub("<id>", there)
        assert here == there, (asked(), here[:2000], there[:2000])

    def _head(self, answer: requests.Response, *, exact: bool) -> str:
        lines = []
        for name, value in sorted(answer.headers.lower_items()):
            if name in _OF_THE_CONNECTION or (name == "content-length" and not exact):
                continue
            if name == "content-security-policy":
                value = "; ".join(sorted(value.split("; ")))
            if name == "etag":
                value = _CONTENT.sub('"…"', _VERSION.sub('"…', value))
                value = value if exact else value.partition(".")[0]
            lines.append(f"{name}: {value}")
        return self._without_chance("\n".join(lines))

    def _without_chance(self, text: str) -> str:
        for pattern, put in _SEALED:
            text = pattern.sub(put, text)
        return _TIME.sub(lambda match: "<now>" if match[0] >= self.began else match[0], text)


def _is_file(answer: requests.Response) -> bool:
    return "attachment" in answer.headers.get("Content-Disposition", "")


def _sorted(text: str) -> str:
    """The items of a list by all but their ids."""
    items = re.findall(r"\{[^{}]*\}", text)
    return "\n".join(sorted(items, key=lambda item: _MADE.sub("", item)))

"""Bodies that are made to cost more than they are: refused in little time and memory."""

from __future__ import annotations

import io
import time
import tracemalloc
from typing import Any

import pytest

from tests.callers import Caller

LEADS = "/api/sales/leads"


def test_a_long_key_over_many_values_takes_little_memory(anonymous: Caller) -> None:
    """Where each value is would be a thousand times the body, if all of it were written down."""
    body = b'{"topic": {"' + b"k" * 100_000 + b'": [' + b"[], " * 1_000 + b"[]]}}"
    anonymous.post(LEADS, b"{}")
    tracemalloc.start()
    try:
        answer = anonymous.post(LEADS, body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status_code == 400
    assert peak < 10_000_000


@pytest.mark.parametrize(("depth", "code"), [(31, "invalid_input"), (32, "malformed_body")])
def test_a_body_may_be_nested_32_levels_deep(anonymous: Caller, depth: int, code: str) -> None:
    answer = anonymous.post(LEADS, b'{"topic": ' + b"[" * depth + b"]" * depth + b"}")
    assert answer.status_code == 400
    assert answer.json()["code"] == code


def test_a_nul_character_is_found_wherever_it_is(anonymous: Caller) -> None:
    answer = anonymous.post(LEADS, {"topic": "x", "a/b": [{"c": "ok"}, {"~": "\0"}]})
    assert answer.json()["errors"][0]["pointer"] == "/a~1b/1/~0"
    assert answer.json()["errors"][0]["code"] == "invalid_character"
    assert anonymous.post(LEADS, {"topic": "x", "a\0": 1}).json()["code"] == "malformed_body"


# Seconds: what follows upon the body has as long, on a busy machine too.
DEADLINE = 4.0


class Slow(io.BytesIO):
    """A body whose sender takes longer over its beginning than a request may."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() == 0:
            time.sleep(DEADLINE + 0.1)
        return super().read(size)


@pytest.mark.parametrize("headers", [{}, {"HTTP_IDEMPOTENCY_KEY": "slow-body-0001"}], ids=["plain", "keyed"])
def test_the_time_that_a_body_takes_is_its_senders(
    rita: Caller, settings: Any, headers: dict[str, str]
) -> None:
    settings.PORTICO = {**settings.PORTICO, "REQUEST_DEADLINE": DEADLINE}
    body = b'{"name": "Slow Ltd"}'
    environment: dict[str, Any] = {
        "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": "application/json",
        "wsgi.input": Slow(body),
        **headers,
    }
    answer = rita.client.generic("POST", "/api/sales/accounts", **environment)
    assert answer.status_code == 200, answer.content


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\t\n",
        "\u200b",
        "\ufeff",
        "\u2060",
        "\u200b \u200d\ufeff",
        "\u00ad",
        "\u202e",
        "\u3164",
        "\u2800",
    ],
    ids=ascii,
)
def test_text_that_nobody_sees_is_blank_where_text_is_required(anonymous: Caller, text: str) -> None:
    answer = anonymous.post(LEADS, {"topic": text, "lastName": "Seen"})
    assert answer.status_code == 400
    assert {"pointer": "/topic", "code": "required"}.items() <= answer.json()["errors"][0].items()


@pytest.mark.parametrize("text", ["a", "\u200ba", "ک\u200cک", "👩\u200d👩", "·", "0"], ids=ascii)
def test_what_is_seen_is_stored_as_it_was_sent(anonymous: Caller, text: str) -> None:
    assert anonymous.post(LEADS, {"topic": text, "lastName": "Seen"}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [b'{"topic": "a", "topic": "b"}', b'{"topic": "a", "t\\u006fpic": "a"}', b'{"topic": {"a": 1, "a": 1}}'],
)
def test_a_key_that_is_there_twice_is_refused(anonymous: Caller, body: bytes) -> None:
    assert anonymous.post(LEADS, body).status_code == 400

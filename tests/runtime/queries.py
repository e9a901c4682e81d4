"""Queries designed for a test, and read as the answers that callers get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from designer.models import Column, Endpoint, Input, Module
from tests.callers import Caller

QUERIES = "/api/sales/queries"


def a_query(
    kind: str,
    query: str,
    *inputs: dict[str, Any],
    columns: tuple[dict[str, str], ...] = (),
    name: str = "tested",
    **settings: Any,
) -> str:
    """The path of a new query for any authenticated caller."""
    row = Endpoint.objects.create(
        kind=f"{kind}-query",
        module=Module.objects.get(segment="sales"),
        name=name,
        enabled=True,
        settings={"query": query, **settings},
    )
    for at, given in enumerate(inputs):
        Input.objects.create(endpoint=row, position=at, **given)
    for at, given in enumerate(columns):
        Column.objects.create(endpoint=row, position=at, **given)
    return f"{QUERIES}/{name}"


def accounts(inside: str = "", attributes: str = "", columns: str = '<attribute name="name"/>') -> str:
    """FetchXML on accounts."""
    return f'<fetch {attributes}><entity name="account">{columns}{inside}</entity></fetch>'


def where(*conditions: str) -> str:
    inside = "".join(f"<condition {condition}/>" for condition in conditions)
    return f"<filter>{inside}</filter>"


def body(caller: Caller, path: str) -> Any:
    answer = caller.get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()


def errors(caller: Caller, path: str) -> list[tuple[str, str]]:
    """What is wrong with the parameters: pairs of parameter and code."""
    answer = caller.get(path)
    assert answer.status_code == 400, answer.content
    return [(error["parameter"], error["code"]) for error in answer.json()["errors"]]


def pages(caller: Caller, path: str) -> Iterator[dict[str, Any]]:
    """Every page, by the `Link` of the one before."""
    while True:
        answer = caller.get(path)
        assert answer.status_code == 200, answer.content
        yield answer.json()
        link = answer.get("Link")
        if link is None:
            return
        path = link.partition(">")[0].removeprefix("<")

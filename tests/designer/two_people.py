"""Two people with one page of the studio open at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.test import Client

from designer.studio.saving.edit_conflicts import ANSWER, ASKED, OPENED, SEEN
from tests.designer.studio import change_url, errors, filled, page, send


def opened(client: Client, row: Any) -> dict[str, Any]:
    """What a browser that has just opened the page of `row` would send back."""
    return held(page(client, change_url(row)))


def held(answer: Any) -> dict[str, Any]:
    """What a browser that shows `answer` would send."""
    context = answer.context
    data = filled(answer) | {SEEN: context["seen"], OPENED: context["opened"]}
    if asked(answer):
        data[ASKED] = context["conflict"].sealed_questions
    return data


def save(client: Client, row: Any, data: dict[str, Any]) -> None:
    answer = send(client, change_url(row), data)
    assert answer.status_code == 302, (errors(answer), asked(answer))


def asked(answer: Any) -> dict[str, tuple[str, str]]:
    """My value and theirs by what the page calls the field that it asks about."""
    conflict = answer.context.get("conflict")
    return (
        {one.question.label: (one.question.mine, one.question.theirs) for one in conflict.questions}
        if conflict
        else {}
    )


def answers(answer: Any, **chosen: str) -> dict[str, str]:
    """Of the questions of a page: `mine` or `theirs` by the field's label, in `rest` for all others."""
    return {
        f"{ANSWER}{one.question.name}": chosen.get(one.question.label, chosen.get("rest", ""))
        for one in answer.context["conflict"].questions
    }


@contextmanager
def while_it_waits(act: Callable[[], object], *, may_raise: bool = False) -> Iterator[None]:
    """Somebody else does `act` while the first save in here waits for its turn to write a version.

    `may_raise`: the save may be rolled back. `act` then comes before its transaction, and stays.
    """
    moment = "SAVEPOINT" if may_raise else "designer_recordedrevision"
    waiting = True

    def on_query(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal waiting
        if waiting and moment in sql:
            waiting = False
            act()
        return execute(sql, *rest)

    with connection.execute_wrapper(on_query):
        yield
    assert not waiting

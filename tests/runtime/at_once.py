"""Several calls of the API at the same moment, each with a thread and a database connection of its own."""

from __future__ import annotations

import threading
from typing import Any

from django.db import connection
from django.test import Client


def posted_at_once(path: str, body: dict[str, Any], number: int) -> list[tuple[int, Any]]:
    """Status and content of the answers to `number` equal calls; fewer where calls raised."""
    answers: list[tuple[int, Any]] = []
    together = threading.Barrier(number)

    def post() -> None:
        together.wait()
        try:
            answer = Client().post(path, body, content_type="application/json")
            answers.append((answer.status_code, answer.json()))
        finally:
            connection.close()

    threads = [threading.Thread(target=post) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers

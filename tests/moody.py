"""A platform that notes what accounts are asked for, and is slow or away as files in the data folder say."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from crmbox.platform import EmbeddedPlatform
from crmclient.errors import Unavailable
from crmclient.query.ast import ALL, Page, Query
from crmclient.values import QueryResult


class MoodyPlatform(EmbeddedPlatform):
    def query(self, query: Query, page: Page = ALL, **options: Any) -> QueryResult:
        if query.entity != "account":
            return super().query(query, page, **options)
        folder = Path(os.environ["DATA_DIR"])
        if (folder / "away").exists():
            raise Unavailable("It is away.")
        with (folder / "asked").open("a", encoding="utf-8") as asked:
            asked.write("query\n")
        if (folder / "slow").exists():
            time.sleep(float((folder / "slow").read_text(encoding="utf-8")))
        answer = super().query(query, page, **options)
        with (folder / "answered").open("a", encoding="utf-8") as answered:
            answered.write("query\n")
        return answer


def platform() -> MoodyPlatform:
    return MoodyPlatform()


class Mood:
    """What a test says to the platform in `folder`, and hears of it."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def asked(self) -> int:
        """How often accounts have been asked for."""
        return self._lines("asked")

    def answered(self) -> int:
        """How many of these questions are answered."""
        return self._lines("answered")

    def _lines(self, name: str) -> int:
        path = self._folder / name
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    def slow(self, seconds: float) -> None:
        (self._folder / "slow").write_text(str(seconds), encoding="utf-8")

    def away(self, *, back: bool = False) -> None:
        if back:
            (self._folder / "away").unlink()
        else:
            (self._folder / "away").touch()

"""Which tests a pass on another database leaves out, because others send it the same statements."""

from __future__ import annotations

import json
from pathlib import Path

from tests.statements import MORE, PAGES, TIMES, sent_by_others


def _noted(folder: Path, **tests: list[str]) -> Path:
    (folder / "all.json").write_text(json.dumps(tests), encoding="utf-8")
    return folder


def test_each_statement_is_sent_a_few_times_and_not_by_every_test(tmp_path: Path) -> None:
    same = {f"page{at}": [PAGES, "select"] for at in range(TIMES + 2)}
    notes = _noted(tmp_path, **same, other=[PAGES, "select", "update"])
    assert sent_by_others([*same, "other"], notes) == {f"page{TIMES}", f"page{TIMES + 1}"}


def test_what_does_more_than_open_pages_stays_and_counts(tmp_path: Path) -> None:
    calls = {f"call{at}": [PAGES, MORE, "select"] for at in range(TIMES + 2)}
    notes = _noted(tmp_path, **calls, page=[PAGES, "select"])
    assert sent_by_others(["page", *calls], notes) == {"page"}


def test_what_opened_no_page_stays(tmp_path: Path) -> None:
    others = {f"other{at}": ["select"] for at in range(TIMES + 2)}
    assert sent_by_others(["new", *others], _noted(tmp_path, **others)) == set()

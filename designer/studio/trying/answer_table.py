"""An answer as a table: records in rows, for people to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """The records of an answer, or its first ones. `rows` are texts, in the order of `columns`.

    `total` is the number of all records: as text where a page tells it, else as a number; None if unknown.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: int | str | None


def answer_table(body: str, most: int = MOST_ROWS) -> AnswerTable | None:
    """Return the first `most` records of a JSON body as a table; None for a body without records.

    The number of all records is known where a page tells it, and where there are fewer than `most`.
    """
    try:
        # Numbers stay as they were written: a float would round them.
        answer: Any = json.loads(body, parse_float=str, parse_int=str)
    except ValueError:
        return None
    is_page = isinstance(answer, Mapping) and isinstance(answer.get("data"), list) and "cursor" in answer
    content = answer["data"] if is_page else answer
    # A single record is a table of one row.
    records = content if isinstance(content, list) else [content]
    first_records = records[:most]
    if not all(isinstance(record, Mapping) for record in first_records):
        return None
    # Records may lack keys that others have. The order is that of their first appearance.
    columns = list(dict.fromkeys(key for record in first_records for key in record))
    known_number = len(records) if len(records) < most else None
    total = answer.get("totalRecordCount") if is_page else known_number
    return AnswerTable(
        columns, [[_text(record.get(key)) for key in columns] for record in first_records], total
    )


def _text(value: Any) -> str:
    """Return a value for a cell: “—” for null, and JSON for lists, objects and booleans."""
    if value is None:
        return "—"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

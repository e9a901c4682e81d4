"""CSV files for spreadsheets, which must not take any of their cells for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(text: str) -> str:
    """Return the text, with an apostrophe in front if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def csv_file(name: str, lines: Iterable[Sequence[str]]) -> HttpResponse:
    """The lines as a file to be kept under `name`."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    # Spreadsheets take a file without it for one of their own country's encoding.
    response.write("\ufeff")
    writer = csv.writer(response)
    for line in lines:
        writer.writerow([harmless(cell) for cell in line])
    return response

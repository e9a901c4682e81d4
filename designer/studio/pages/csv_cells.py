"""CSV files for spreadsheets, which must not take any of their cells for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

# Spreadsheets may take a cell that begins with one of these for a formula (OWASP, “CSV Injection”).
_FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(text: str) -> str:
    """Return the text, with an apostrophe in front if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_BEGINNINGS) else text


def csv_file(name: str, lines: Iterable[Sequence[str]]) -> HttpResponse:
    """Return the lines, each a sequence of cells, as a CSV file that browsers save under `name`."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    # A byte order mark: without it, spreadsheets read the file in an old encoding of the user's country.
    response.write("\ufeff")
    writer = csv.writer(response)
    for line in lines:
        writer.writerow([harmless(cell) for cell in line])
    return response

"""Files where there is no room for them, and files that are gone: a clear answer, and nothing left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection

from tests.callers import Caller
from tests.read_only import read_only
from tests.runtime.files.sending import column, notes, send

LARGE = b"%PDF-1.7\n" + bytes(2 * 1024 * 1024)


@pytest.fixture
def on_disk(settings: object, tmp_path: Path) -> Path:
    """The CRM in the box keeps files in a folder: this one."""
    _set(settings, CRM_FILES="disk")
    settings.DATA_DIR = tmp_path  # type: ignore[attr-defined]
    return tmp_path / "files"


def _set(settings: object, **values: str) -> None:
    settings.PORTICO = {**django_settings.PORTICO, **values}  # type: ignore[attr-defined]


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_full_upload_folder_is_507(rita: Caller, account: str, settings: object, full: Path) -> None:
    _set(settings, UPLOAD_FOLDER=str(full))
    answer = send(rita, column(account), LARGE)
    assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
    assert files_in(full) == []
    assert send(rita, column(account)).status_code == 200


def test_an_upload_folder_that_is_gone_is_503(
    rita: Caller, account: str, settings: object, tmp_path: Path
) -> None:
    _set(settings, UPLOAD_FOLDER=str(tmp_path / "gone"))
    answer = send(rita, column(account), LARGE)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


@pytest.mark.parametrize("place", [column, notes])
def test_a_full_folder_of_files_is_507_and_holds_no_piece(
    rita: Caller, account: str, settings: object, full: Path, on_disk: Path, place: object
) -> None:
    settings.DATA_DIR = full  # type: ignore[attr-defined]
    path = place(account)  # type: ignore[operator]
    answer = send(rita, path, LARGE)
    assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
    assert files_in(full) == []
    response = rita.get(path)
    assert response.status_code == 404 if place is column else response.json() == []


@pytest.mark.parametrize("harm", ["missing", "short", "long"])
def test_a_file_that_is_not_as_it_was_stored_is_a_problem(
    rita: Caller, account: str, on_disk: Path, harm: str
) -> None:
    assert send(rita, column(account), LARGE).status_code == 200
    (file,) = files_in(on_disk)
    if harm == "missing":
        file.unlink()
    else:
        os.truncate(file, len(LARGE) + (1 if harm == "long" else -1))
    for headers in ({}, {"range": "bytes=0-9"}):
        answer = rita.get(column(account), **headers)
        assert (answer.status_code, answer.json()["code"]) == (502, "file_lost")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_file_that_lacks_a_block_in_the_database_is_a_problem(
    rita: Caller, account: str, number: int
) -> None:
    id = send(rita, column(account), LARGE).json()["id"]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM crm_file_block WHERE file = %s AND number = %s", (id, number))
    answer = rita.get(column(account))
    assert (answer.status_code, answer.json()["code"]) == (502, "file_lost")


def test_a_database_that_takes_no_writes_is_503(rita: Caller, account: str) -> None:
    writes: list[Callable[[], Any]] = [
        lambda: rita.post("/api/sales/accounts", {"name": "Too late"}),
        lambda: rita.post("/api/sales/accounts", {"name": "Too late"}, idempotency_key="late"),
        lambda: rita.patch(f"/api/sales/accounts/{account}", {"name": "Too late"}),
        lambda: send(rita, column(account)),
        lambda: send(rita, notes(account)),
        lambda: Caller().post("/api/token", {"username": "rep", "password": "demo"}),
    ]
    for write in writes:
        with read_only():
            answer = write()
        assert answer.status_code == 503, answer.content
        assert int(answer.headers["Retry-After"]) > 0
    with read_only():
        assert rita.get(f"/api/sales/accounts/{account}").status_code == 200

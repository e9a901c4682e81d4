"""`/metrics` speaks for all processes of the service, and each request has a line in the log."""

from __future__ import annotations

import io
import json
import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from runtime.http.request_ids import HEADER
from tests.dataverse.recording import Recorder
from tests.observability import Figures, lines, requests_logged
from tests.processes import descendants, lives
from tests.servers import Server, Site, copied, until

pytestmark = pytest.mark.processes

READ = f"/api/sales/accounts/{FIRST_ACCOUNT}"
UNLIMITED = {"ADDRESS_RATE": "0", "CALLER_RATE": "0"}


def headers(server: Server, account: str = "manager") -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token(account)}"}


def living(server: Server) -> list[int]:
    return [pid for pid in descendants(server.process.pid) if lives(pid)]


def _connections(site: Site, server: Server) -> int:
    """Return how many connections to its database the server's processes hold, as the system tells it."""
    if url := site.environment.get("DATABASE_URL"):
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        with psycopg.connect(url) as own:
            return len(own.execute(f"SELECT pid FROM pg_stat_activity WHERE {others}").fetchall())
    opened = 0
    for pid in living(server):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed since
                opened += os.readlink(descriptor) == site.database
    return opened


def test_a_scrape_counts_the_requests_of_all_processes(site: Site) -> None:
    server = site.start(WORKERS="2", **UNLIMITED)
    token = headers(server)
    for _ in range(30):
        assert server.request("GET", READ, headers=token).status_code == 200
        assert server.request("GET", f"/api/sales/accounts/{uuid.uuid4()}", headers=token).status_code == 404
    read = {"endpoint": "sales.accounts.read", "method": "GET"}
    until(lambda: Figures(server).sum("requests_total", **read) == 60)

    for _ in range(10):
        figures = Figures(server)
        assert figures.sum("workers") == 2
        assert figures.sum("requests_total", **read, status="200") == 30
        assert figures.sum("requests_total", **read, status="404") == 30
        assert figures.sum("request_seconds_count", endpoint="sales.accounts.read") == 60
        assert figures.sum("refusals_total", code="not_found") == 30
        assert figures.sum("request_platform_calls_total", endpoint="sales.accounts.read") >= 60
        assert figures.sum("configuration_revision") > 0
        assert figures.sum("threads") >= 2 * 4
    # One process may have answered all of them: only the system knows how many connections there are.
    until(lambda: Figures(server).sum("database_connections") == _connections(site, server) > 0)


def test_no_counter_falls_when_processes_are_killed(site: Site) -> None:
    server = site.start(WORKERS="2", **UNLIMITED)
    token = headers(server)
    for round in range(1, 4):
        for _ in range(10):
            assert server.request("GET", READ, headers=token).status_code == 200
        counted = {"endpoint": "sales.accounts.read", "status": "200"}
        until(lambda: Figures(server).sum("requests_total", **counted) == 10 * round)  # noqa: B023  called at once
        before = living(server)
        for pid in before:
            if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        until(lambda: not set(living(server)) & set(before) and living(server))  # noqa: B023
        until(lambda: _answers(server))
        assert Figures(server).sum("requests_total", **counted) == 10 * round
        assert Figures(server).sum("worker_restarts_total") == 2 * round
        until(lambda: Figures(server).sum("workers") == 2)
    # Processes that come later go on with the figures of those that are gone.
    folder = next(folder for pid in living(server) if (folder := _folder(pid)) is not None)
    assert len(list(folder.glob("counter_*.db"))) <= 4
    server.stop()
    assert not folder.exists()


def _answers(server: Server) -> bool:
    try:
        return server.request("GET", "/health/ready").status_code == 200
    except OSError:
        return False


def _folder(pid: int) -> Path | None:
    """Where the process keeps its figures."""
    for mapped in Path(f"/proc/{pid}/maps").read_text().splitlines():
        if "/portico-metrics-" in mapped:
            return Path(mapped.split()[-1]).parent
    return None


def test_a_request_has_one_line(site: Site) -> None:
    server = site.start(WORKERS="2", **UNLIMITED)
    token = headers(server)
    answer = server.request("GET", READ, headers=token)
    (line,) = requests_logged(server, request_id=answer.headers[HEADER])
    assert line["endpoint"] == "sales.accounts.read"
    assert (line["method"], line["status"], line["caller_type"]) == ("GET", 200, "user")
    assert line["platform_calls"] >= 1
    assert line["platform_seconds"] > 0
    assert line["seconds"] > 0
    assert line["level"] == "info"
    assert line["timestamp"].endswith("Z")

    refused = server.request("GET", READ)
    (line,) = requests_logged(server, request_id=refused.headers[HEADER])
    assert (line["caller_type"], line["status"], line["code"]) == (
        "anonymous",
        401,
        "authentication_required",
    )
    wrong = server.request("GET", READ, headers={"Authorization": "Bearer x.y.z"})
    (line,) = requests_logged(server, request_id=wrong.headers[HEADER])
    assert (line["code"], line["reason"]) == ("invalid_token", "malformed")
    assert Figures(server).sum("refusals_total", code="invalid_token", reason="malformed") == 1

    server.request("BREW", READ)
    assert requests_logged(server, method="other", status=405)
    server.request("GET", "/api/nowhere/at/all")
    assert requests_logged(server, endpoint="other", status=404)
    server.request("GET", "/admin/login/")
    assert requests_logged(server, endpoint="/admin/", status=200)


def test_no_line_is_written_where_none_is_wanted(site: Site) -> None:
    server = site.start(ACCESS_LOG="0")
    server.request("GET", READ)
    until(lambda: Figures(server).sum("requests_total", endpoint="sales.accounts.read") == 1)
    server.stop()
    assert not lines(server, logger="portico.access")


def test_what_was_answered_last_is_logged_before_the_end(site: Site) -> None:
    server = site.start(WORKERS="2")
    answers = [server.request("GET", READ) for _ in range(10)]
    server.stop()
    logged = {line["request_id"] for line in lines(server, logger="portico.access")}
    assert {answer.headers[HEADER] for answer in answers} <= logged


def test_files_that_are_received_are_counted(site: Site) -> None:
    server = site.start(WORKERS="2", **UNLIMITED)
    token = headers(server)
    document = server.request("GET", "/api/openapi.json", headers=token).json()
    path = next(path for path in document["paths"] if "/accounts/{id}/files/" in path)
    content = b"%PDF-1.7 " + bytes(100_000)
    for _ in range(2):
        answer = server.request(
            "POST",
            path.replace("{id}", FIRST_ACCOUNT),
            files={"file": ("a.pdf", io.BytesIO(content), "application/pdf")},
            headers=token,
        )
        assert answer.status_code == 200, answer.text
    until(lambda: Figures(server).sum("uploads_total") == 2)
    assert Figures(server).sum("upload_bytes_total") == 2 * len(content)


@pytest.fixture
def recorded(_prepared: Site, tmp_path: Path) -> Iterator[Recorder]:
    with copied(_prepared, tmp_path / "crm", "recorded") as crm:
        recorder = Recorder(crm.start_crm(root="/contoso"))
        yield recorder
        recorder.stop()


def test_dataverse_is_told_a_guid_of_ours_that_the_log_has(site: Site, recorded: Recorder) -> None:
    server = site.start(**recorded.settings(), **UNLIMITED)
    token = headers(server)
    server.request("GET", READ, headers=token)
    recorded.headers.clear()

    answer = server.request("GET", READ, headers={**token, HEADER: "my-own-request-id"})

    assert answer.status_code == 200, answer.text
    sent = {headers.get("x-ms-client-request-id", "") for headers in recorded.headers}
    (guid,) = sent
    assert str(uuid.UUID(guid)) == guid
    (line,) = requests_logged(server, request_id="my-own-request-id")
    assert line["platform_request_id"] == guid
    assert line["platform_calls"] == len(recorded.headers)
    assert "my-own-request-id" not in json.dumps(recorded.headers)
    attempts = Figures(server).sum("platform_attempt_seconds_count", method="GET", outcome="200")
    assert attempts >= len(recorded.headers)

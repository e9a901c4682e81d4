"""A large file through a real server: memory stays flat, and whoever goes away leaves nothing behind."""

from __future__ import annotations

import hashlib
import http.client
import socket
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from tests.servers import ANSWER_SECONDS, Server, Site, copied, until

pytestmark = pytest.mark.processes

MEGABYTE = 1024 * 1024
SIZE = 100 * MEGABYTE
# Files of which each is so much larger than the one before.
STEP = 40
SIZES = (1, 1 + STEP, 1 + 2 * STEP, 1 + 3 * STEP)
PIECE = b"%PDF-1.7\n" + bytes(range(256)) * 4096
PIECE = PIECE[:MEGABYTE]


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For tests that each have an account of their own."""
    with copied(_prepared, tmp_path_factory.mktemp("large") / "data", "large") as site:
        yield site.start()


def _content(pieces: int = 100) -> Iterator[bytes]:
    for _ in range(pieces):
        yield PIECE


def _processes(server: Server) -> list[int]:
    """The server's own process and its workers."""
    pids = [server.process.pid]
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            pids += [int(child) for child in (task / "children").read_text().split()]
    return pids


def _peak(server: Server) -> int:
    """The most memory that the server's processes have held, in bytes."""
    peaks = 0
    for pid in _processes(server):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                peaks += int(line.split()[1]) * 1024
    return peaks


def _account(server: Server, headers: dict[str, str]) -> str:
    made = server.request("POST", "/api/sales/accounts", json={"name": "Large Ltd"}, headers=headers)
    return f"/api/sales/accounts/{made.json()['id']}/files/contract"


def _headers(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token('rep')}"}


class _Body:
    """An iterator with a length: requests sends it as it is, not in chunks."""

    def __init__(self, pieces: Iterator[bytes], size: int) -> None:
        self._pieces = pieces
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def __len__(self) -> int:
        return self._size


def _send(
    server: Server, path: str, headers: dict[str, str], *, as_form: bool = False, pieces: int = 100
) -> requests.Response:
    size = pieces * MEGABYTE
    if not as_form:
        named = {"Content-Disposition": "attachment; filename=large.pdf", "Content-Type": "application/pdf"}
        return server.request("POST", path, data=_Body(_content(pieces), size), headers=headers | named)
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="large.pdf"\r\n\r\n'
    tail = b"\r\n--x--\r\n"

    def whole() -> Iterator[bytes]:
        yield head
        yield from _content(pieces)
        yield tail

    body = _Body(whole(), len(head) + size + len(tail))
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    return server.request("POST", path, data=body, headers=headers | kind)


@pytest.mark.parametrize("files", ["database", "disk"])
def test_memory_does_not_grow_with_the_size_of_a_file(site: Site, files: str) -> None:
    """A single peak also has what caches, threads and allocators happen to take. What is held of a file comes
    with every larger one: the memory grows at each step by what the file did, not only at some."""
    server = site.start(CRM_FILES=files)
    headers = _headers(server)
    path = _account(server, headers)
    peaks = []
    for pieces in SIZES:
        _both_ways(server, path, headers, pieces)
        peaks.append(_peak(server))
    growth = [after - before for before, after in pairwise(peaks)]
    assert min(growth) < STEP * MEGABYTE / 2, growth
    assert sum(growth) < (SIZES[-1] - SIZES[0]) * MEGABYTE, growth


def _both_ways(server: Server, path: str, headers: dict[str, str], pieces: int) -> None:
    """Sends a file as it is and as a form, and fetches it each time."""
    size = pieces * MEGABYTE
    expected = hashlib.sha256(PIECE * pieces).digest()
    for as_form in (False, True):
        sent = _send(server, path, headers, as_form=as_form, pieces=pieces)
        assert sent.status_code == 200, sent.text
        assert sent.json()["size"] == size
        received = hashlib.sha256()
        with server.request("GET", path, headers=headers, stream=True) as answer:
            assert answer.headers["Content-Length"] == str(size)
            for piece in answer.iter_content(MEGABYTE):
                received.update(piece)
        assert received.digest() == expected


def _read(server: Server) -> int:
    """The bytes that the server's processes have read of files."""
    total = 0
    for pid in _processes(server):
        words = Path(f"/proc/{pid}/io").read_text().split()
        total += int(words[words.index("rchar:") + 1])
    return total


def test_head_of_a_large_file_reads_none_of_it(server: Server) -> None:
    headers = _headers(server)
    path = _account(server, headers)
    assert _send(server, path, headers).status_code == 200
    before = _read(server)
    answer = server.request("HEAD", path, headers=headers)
    assert (answer.headers["Content-Length"], answer.content) == (str(SIZE), b"")
    assert _read(server) - before < SIZE / 10
    part = server.request("GET", path, headers=headers | {"Range": f"bytes={SIZE - 4}-"})
    assert (part.status_code, part.content) == (206, (PIECE * 2)[-4:])


def test_a_sender_that_goes_away_leaves_nothing(site: Site) -> None:
    server = site.start()
    headers = _headers(server)
    path = _account(server, headers)
    _begin(server, path, headers).close()
    until(lambda: not _open_files(server))
    assert server.request("GET", path, headers=headers).status_code == 404
    assert site.manage("shell", "-c", _COUNT).strip().endswith("0 0")


def test_who_sends_too_much_or_may_not_send_sees_the_answer(server: Server) -> None:
    """Many clients look for the answer only when they have sent all."""
    rep = _headers(server)
    contract = _account(server, rep)
    json = {"Content-Type": "application/json"}
    pdf = {"Content-Type": "application/pdf", "Content-Disposition": "attachment; filename=large.pdf"}
    refused = [
        (413, "/api/sales/accounts", rep | json),
        (413, contract.replace("contract", "notes"), rep | pdf),
        (401, "/api/sales/accounts", json),
        (401, contract, pdf),
        (404, "/api/nobody/knows", json),
        (415, "/api/sales/accounts", rep | pdf),
    ]
    for status, path, headers in refused * 3:
        assert _told(server, path, headers) == status


def _told(server: Server, path: str, headers: dict[str, str]) -> int:
    """What is answered to 20 MB, read once they have been sent."""
    target = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=ANSWER_SECONDS)
    connection.putrequest("POST", path)
    for name, value in {**headers, "Content-Length": str(20 * len(PIECE))}.items():
        connection.putheader(name, value)
    connection.endheaders()
    for piece in _content(20):
        connection.send(piece)
    return connection.getresponse().status


def test_a_reader_that_goes_away_harms_nobody(server: Server) -> None:
    headers = _headers(server)
    path = _account(server, headers)
    assert _send(server, path, headers).status_code == 200
    for _ in range(8):
        with server.request("GET", path, headers=headers, stream=True) as answer:
            next(answer.iter_content(1000))
    for _ in range(8):
        assert server.request("GET", path, headers=headers | {"Range": "bytes=0-9"}).content == PIECE[:10]


_COUNT = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT (SELECT COUNT(*) FROM crm_file WHERE attribute = 'new_contract'), "
        "(SELECT COUNT(*) FROM crm_file_block AS b JOIN crm_file AS f ON f.id = b.file "
        "WHERE f.attribute = 'new_contract')")
    print(*cursor.fetchone())
"""


def _begin(server: Server, path: str, headers: dict[str, str]) -> socket.socket:
    """A connection that has sent ten of a hundred megabytes."""
    target = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=ANSWER_SECONDS)
    connection.putrequest("POST", path)
    named = {"Content-Disposition": "attachment; filename=large.pdf", "Content-Length": str(SIZE)}
    for name, value in (headers | named).items():
        connection.putheader(name, value)
    connection.endheaders()
    for piece in _content(10):
        connection.send(piece)
    until(lambda: _open_files(server))
    return connection.sock


def _open_files(server: Server) -> list[str]:
    """Temporary files that the server's processes hold."""
    paths = []
    for pid in _processes(server):
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(handle.readlink())
            except FileNotFoundError:
                continue
            if target.startswith("/tmp/") and target.endswith("(deleted)"):
                paths.append(target)
    return paths

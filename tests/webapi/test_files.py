from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from urllib.parse import quote

import pytest
import requests

from tests.servers import Site
from tests.webapi.crm import Crm, service

CHUNK = 4 * 1024 * 1024
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def account(crm: Crm) -> str:
    return f"accounts({crm.create('accounts', {'name': 'With files'})})"


def pattern(size: int) -> bytes:
    """Bytes of which no two blocks are the same."""
    return b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(size // 32 + 1))[:size]


def put(crm: Crm, path: str, content: bytes, name: str = "terms.pdf", **headers: str) -> requests.Response:
    sent = {"Content-Type": "application/octet-stream", "x-ms-file-name": name, **headers}
    return crm.send("PATCH", path, data=content, headers=sent)


def test_a_small_file_comes_back_as_it_went_in(crm: Crm, account: str) -> None:
    content = pattern(100_000)
    assert put(crm, f"{account}/new_contract", content).status_code == 204
    answer = crm.send("GET", f"{account}/new_contract/$value")
    assert answer.content == content
    assert answer.headers["x-ms-file-size"] == "100000"
    assert answer.headers["x-ms-file-name"] == "terms.pdf"
    assert answer.headers["mimetype"] == "application/pdf"
    record = crm.get(f"{account}?$select=new_contract")
    assert record["new_contract_name"] == "terms.pdf"
    assert len(record["new_contract"]) == 36


@pytest.mark.parametrize(
    ("wanted", "status", "part"),
    [
        ("bytes=0-9", 206, slice(0, 10)),
        ("bytes=999990-", 206, slice(999_990, None)),
        ("bytes=-5", 206, slice(-5, None)),
        ("bytes=999999-2000000", 206, slice(999_999, None)),
        ("chapters=1-2", 200, slice(None)),
    ],
)
def test_a_range_of_a_file_is_served(crm: Crm, account: str, wanted: str, status: int, part: slice) -> None:
    content = pattern(1_000_000)
    put(crm, f"{account}/new_contract", content)
    answer = crm.send("GET", f"{account}/new_contract/$value", headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (status, content[part])


def test_a_range_behind_the_end_cannot_be_served(crm: Crm, account: str) -> None:
    put(crm, f"{account}/new_contract", b"12345")
    answer = crm.send("GET", f"{account}/new_contract/$value", headers={"Range": "bytes=5-9"})
    assert (answer.status_code, answer.headers["Content-Range"]) == (416, "bytes */5")


def start(crm: Crm, path: str, **headers: str) -> str:
    answer = crm.send("PATCH", path, headers={"x-ms-transfer-mode": "chunked", **headers})
    assert (answer.status_code, answer.headers["x-ms-chunk-size"]) == (200, str(CHUNK))
    assert answer.headers["Location"].startswith(crm.base)
    return answer.headers["Location"]


def send_chunk(crm: Crm, url: str, content: bytes, first: int, total: int) -> int:
    last = first + len(content) - 1
    headers = {
        "Content-Range": f"bytes {first}-{last}/{total}",
        "Content-Type": "application/octet-stream",
        "x-ms-transfer-mode": "chunked",
    }
    return crm.send("PATCH", url, data=content, headers=headers).status_code


@pytest.mark.parametrize("size", [10, CHUNK, 2 * CHUNK, 2 * CHUNK + 1])
def test_a_large_file_is_sent_in_chunks(crm: Crm, account: str, size: int) -> None:
    """With the extra empty chunk that clients send when the size is a whole number of chunks."""
    content = pattern(size)
    url = start(crm, f"{account}/new_contract?x-ms-file-name={quote('Vertrag Ä.pdf')}")
    answers = [
        send_chunk(crm, url, content[first : first + CHUNK], first, size)
        for first in range(0, size // CHUNK * CHUNK + 1, CHUNK)
    ]
    full = -(-size // CHUNK)
    assert answers[:full] == [206] * (full - 1) + [204]
    assert answers[full:] in ([], [204])
    answer = crm.send("GET", f"{account}/new_contract/$value")
    assert answer.content == content
    assert answer.headers["x-ms-file-name"] == quote("Vertrag Ä.pdf", safe=" ")


def test_a_chunk_may_be_sent_again(crm: Crm, account: str) -> None:
    url = start(crm, f"{account}/new_contract", **{"x-ms-file-name": "a.txt"})
    for _ in range(2):
        assert send_chunk(crm, url, b"12345", 0, 8) == 206
    assert send_chunk(crm, url, b"678", 5, 8) == 204
    assert crm.send("GET", f"{account}/new_contract/$value").content == b"12345678"


def test_a_session_begins_while_another_one_ends(site: Site, tmp_path: Path) -> None:
    """A link that leads nowhere stands for a folder that is listed, and gone when it is looked at."""
    sessions = tmp_path / "portico-crm-uploads"
    sessions.mkdir()
    (sessions / "ended").symlink_to(tmp_path / "nowhere")
    crm = service(site.start_crm(UPLOAD_FOLDER=str(tmp_path)))
    account = f"accounts({crm.create('accounts', {'name': 'With files'})})"
    assert start(crm, f"{account}/new_contract", **{"x-ms-file-name": "a.txt"})


def test_a_chunk_out_of_its_place_is_refused(crm: Crm, account: str) -> None:
    url = start(crm, f"{account}/new_contract", **{"x-ms-file-name": "a.txt"})
    assert send_chunk(crm, url, b"678", 5, 8) == 400
    assert crm.send("PATCH", url, data=b"12345").status_code == 400
    wrong = {"Content-Range": "bytes 0-9/10"}
    assert crm.send("PATCH", url, data=b"12345", headers=wrong).status_code == 400
    assert crm.error("PATCH", url.replace("sessiontoken=", "sessiontoken=x"), data=b"1")[0] == 400


def test_a_file_is_read_as_base64_in_chunks(crm: Crm, account: str) -> None:
    content = pattern(2 * CHUNK)
    put(crm, f"{account}/new_contract", content)
    received = b""
    for first in (0, CHUNK, 2 * CHUNK):
        headers = {"Range": f"bytes={first}-{first + CHUNK - 1}"}
        answer = crm.send("GET", f"{account}/new_contract?size=full", headers=headers)
        assert answer.status_code in (200, 206)
        assert "terms.pdf" in answer.headers["Content-Disposition"]
        received += base64.b64decode(answer.json()["value"])
    assert received == content


def test_a_file_is_deleted(crm: Crm, account: str) -> None:
    put(crm, f"{account}/new_contract", b"x")
    assert crm.send("DELETE", f"{account}/new_contract").status_code == 204
    assert crm.error("GET", f"{account}/new_contract/$value")[0] == 404
    assert crm.get(f"{account}?$select=new_contract")["new_contract"] is None


def test_a_file_that_is_too_large_is_refused(crm: Crm, account: str) -> None:
    url = start(crm, f"{account}/new_contract", **{"x-ms-file-name": "a.txt"})
    headers = {"Content-Range": f"bytes 0-4/{129 * 1024 * 1024}"}
    assert crm.error("PATCH", url, data=b"12345", headers=headers)[:2] == (400, "0x80044a02")


def test_a_file_without_a_name_or_a_record_is_refused(crm: Crm, account: str) -> None:
    assert crm.error("PATCH", f"{account}/new_contract", data=b"x")[0] == 400
    missing = "accounts(00000000-0000-4000-8000-0000000000ff)/new_contract"
    assert put(crm, missing, b"x").status_code == 404
    assert put(crm, f"{account}/name", b"x").status_code == 501


def test_a_stale_version_keeps_the_file(crm: Crm, account: str) -> None:
    tag = crm.get(account)["@odata.etag"]
    assert put(crm, f"{account}/new_contract", b"one", **{"If-Match": tag}).status_code == 204
    assert put(crm, f"{account}/new_contract", b"two", **{"If-Match": tag}).status_code == 412
    assert crm.send("GET", f"{account}/new_contract/$value").content == b"one"


def test_an_image_is_set_with_its_record(crm: Crm, account: str) -> None:
    encoded = base64.b64encode(PNG).decode()
    assert crm.send("PATCH", account, json={"new_logo": encoded}).status_code == 204
    record = crm.get(f"{account}?$select=new_logo")
    assert record["new_logo"] == encoded
    assert len(record["new_logoid"]) == 36
    answer = crm.send("GET", f"{account}/new_logo/$value?size=full")
    assert (answer.content, answer.headers["mimetype"]) == (PNG, "image/png")
    assert put(crm, f"{account}/new_logo", b"no image").json()["error"]["code"] == "0x80072553"


def test_an_image_without_a_whole_copy_has_no_content(crm: Crm) -> None:
    id = crm.create("contacts", {"lastname": "Pictured"})
    contact = f"contacts({id})"
    assert put(crm, f"{contact}/entityimage", PNG).status_code == 204
    for path in ("entityimage/$value?size=full", "entityimage?size=full"):
        answer = crm.send("GET", f"{contact}/{path}")
        assert (answer.status_code, answer.content) == (204, b"")
    assert crm.send("GET", f"{contact}/entityimage/$value").content == PNG
    attributes = "EntityDefinitions(LogicalName='{}')/Attributes(LogicalName='{}')"
    assert crm.get(attributes.format("contact", "entityimage"))["CanStoreFullImage"] is False
    assert crm.get(attributes.format("account", "new_logo"))["CanStoreFullImage"] is True


def test_a_note_carries_its_document(crm: Crm, account: str) -> None:
    content = pattern(10_000)
    note = {
        "subject": "Terms",
        "documentbody": base64.b64encode(content).decode(),
        "filename": "terms.pdf",
        "mimetype": "application/pdf",
        "objectid_account@odata.bind": f"/{account}",
    }
    id = crm.create("annotations", note)
    record = crm.get(f"annotations({id})")
    assert {name: record[name] for name in ("documentbody", "filename", "mimetype", "filesize")} == {
        "documentbody": note["documentbody"],
        "filename": "terms.pdf",
        "mimetype": "application/pdf",
        "filesize": 10_000,
    }
    assert record["isdocument"] is True
    assert crm.send("GET", f"annotations({id})/documentbody/$value").text == note["documentbody"]
    rows = crm.get(f"annotations?$filter=annotationid eq {id}&$select=documentbody")["value"]
    assert rows[0]["documentbody"] == note["documentbody"]
    status, code, _ = crm.error("POST", "annotations", json={**note, "documentbody": "not base64!"})
    assert (status, code) == (400, "0x80048d19")

"""Files up and down: columns and notes, by form and by raw body."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.test.client import encode_multipart
from PIL import Image

from crmclient import Reference
from designer.models import Endpoint, ExposedEntity
from designer.platform import get_platform
from runtime.files.names import name_in
from tests.callers import Caller
from tests.runtime.files.sending import NAMES, NOBODY, PDF, column, content, form, notes, send, stored


@pytest.mark.parametrize("name", NAMES)
def test_a_raw_body_comes_back_under_its_name(rita: Caller, account: str, name: str) -> None:
    sent = send(rita, column(account), name=name)
    assert sent.status_code == 200, sent.content
    assert sent.json() == {
        "id": sent.json()["id"],
        "fileName": name,
        "contentType": "application/pdf",
        "size": len(PDF),
    }
    answer = rita.get(column(account))
    assert answer.status_code == 200
    assert content(answer) == PDF
    assert answer["Content-Length"] == str(len(PDF))
    assert answer["Content-Type"] == "application/pdf"
    assert answer["ETag"] == f'"{sent.json()["id"]}"'
    assert answer["Accept-Ranges"] == "bytes"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "private, no-cache"
    disposition = answer["Content-Disposition"]
    assert disposition.startswith('attachment; filename="')
    assert disposition.isascii()
    assert name_in(disposition) == name


@pytest.mark.parametrize("name", ["contract.pdf", "Müller.pdf", "契約書.pdf"])
def test_a_form_comes_back_under_its_name(rita: Caller, account: str, name: str) -> None:
    sent = form(rita, column(account), ("file", name, PDF))
    assert sent.status_code == 200, sent.content
    assert sent.json()["fileName"] == name
    assert sent.json()["contentType"] == "application/pdf"
    assert content(rita.get(column(account))) == PDF


def test_a_form_as_django_writes_it_is_taken(rita: Caller, account: str) -> None:
    file = io.BytesIO(PDF)
    file.name = "as django.pdf"
    body = encode_multipart("frontier", {"file": file})
    sent = rita.request("POST", column(account), body, content_type="multipart/form-data; boundary=frontier")
    assert sent.status_code == 200, sent.content


def test_unescaped_utf_8_in_a_header_is_understood(rita: Caller, account: str) -> None:
    header = 'attachment; filename="Müller.pdf"'.encode().decode("latin-1")
    sent = send(rita, column(account), content_disposition=header)
    assert sent.json()["fileName"] == "Müller.pdf"


def test_a_second_upload_takes_the_place_of_the_first(rita: Caller, account: str) -> None:
    first = send(rita, column(account)).json()
    before = stored()
    second = send(rita, column(account), PDF + b"more", "b.pdf").json()
    assert second["id"] != first["id"]
    assert content(rita.get(column(account))) == PDF + b"more"
    assert stored()[0] == before[0]


def test_a_note_is_listed_and_its_file_comes_back(rita: Caller, account: str) -> None:
    sent = [form(rita, notes(account), ("file", f"{n}.txt", b"text %d" % n)).json() for n in (1, 2)]
    listed = rita.get(notes(account))
    assert listed.status_code == 200
    entries = [{key: note[key] for key in sent[0]} for note in listed.json()]
    # Those of one second come in any order.
    assert sorted(entries, key=lambda note: note["fileName"]) == sent
    assert all(note["createdOn"].endswith("Z") for note in listed.json())
    answer = rita.get(f"{notes(account)}/{sent[1]['id']}")
    assert answer.status_code == 200
    assert content(answer) == b"text 2"
    assert name_in(answer["Content-Disposition"]) == "2.txt"
    note = get_platform().retrieve("annotation", sent[0]["id"], ("subject", "objectid")).values
    assert note["subject"] == "1.txt"
    assert isinstance(note["objectid"], Reference)
    assert note["objectid"].id == account


def test_a_record_without_notes_has_an_empty_list(rita: Caller, account: str) -> None:
    assert rita.get(notes(account)).json() == []


def test_a_note_without_a_file_is_no_file(rita: Caller, account: str) -> None:
    note = get_platform().create(
        "annotation", {"subject": "Words", "objectid": Reference("account", account)}
    )
    assert rita.get(notes(account)).json() == []
    assert rita.get(f"{notes(account)}/{note.id}").status_code == 404


def _without_ids(answer: Any) -> Any:
    return {key: value for key, value in answer.json().items() if key not in ("instance", "requestId")}


def test_a_note_belongs_to_the_record_of_the_path(rita: Caller, account: str) -> None:
    other = get_platform().create("account", {"name": "Other Ltd"}).id
    contact = get_platform().create("contact", {"lastname": "Doe"}, id=other).id
    note = form(rita, notes(other), ("file", "secret.txt", b"secret")).json()["id"]
    of_contact = (
        get_platform().create("annotation", {"subject": "x", "objectid": Reference("contact", contact)}).id
    )
    get_platform().upload(
        "annotation",
        of_contact,
        "documentbody",
        io.BytesIO(b"x"),
        file_name="x.txt",
        content_type="text/plain",
    )
    unknown = rita.get(f"{notes(account)}/{NOBODY}")
    assert unknown.status_code == 404
    for path in (f"{notes(account)}/{note}", f"{notes(other)}/{of_contact}", f"{notes(NOBODY)}/{note}"):
        answer = rita.get(path)
        assert answer.status_code == 404
        assert _without_ids(answer) == _without_ids(unknown)
    assert [listed["id"] for listed in rita.get(notes(other)).json()] == [note]


@pytest.mark.parametrize("place", [column, notes])
def test_an_unknown_record_is_404_and_nothing_is_left(rita: Caller, place: Any, portico: None) -> None:
    before = stored()
    assert send(rita, place(NOBODY)).status_code == 404
    assert rita.get(place(NOBODY)).status_code == 404
    assert stored() == before


def test_an_empty_column_is_404(rita: Caller, account: str) -> None:
    answer = rita.get(column(account))
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_a_column_has_no_paths_of_items(rita: Caller, account: str) -> None:
    sent = send(rita, column(account)).json()["id"]
    assert rita.get(f"{column(account)}/{sent}").status_code == 404


def test_ids_that_are_none_are_400(rita: Caller, account: str) -> None:
    for path in (column("x"), notes("x"), f"{notes(account)}/x"):
        answer = rita.get(path)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_id")
    assert send(rita, column("x")).json()["code"] == "invalid_id"


def test_roles_are_judged_before_the_body(aya: Caller, anonymous: Caller, account: str) -> None:
    assert send(aya, column(account)).status_code == 403
    assert send(anonymous, column(account)).status_code == 401
    assert aya.get(notes(account)).status_code == 403
    assert anonymous.get(f"{notes(account)}/{NOBODY}").status_code == 401


def test_a_wrong_method_says_which_are_right(rita: Caller, account: str) -> None:
    answer = rita.delete(column(account))
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert rita.post(f"{notes(account)}/{NOBODY}")["Allow"] == "GET, HEAD, OPTIONS"


def test_an_image_column_takes_and_gives_its_picture(rita: Caller, account: str) -> None:
    accounts = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    for kind in ("upload", "download"):
        place = {"module": accounts.module, "entity": accounts, "name": "picture"}
        Endpoint.objects.create(kind=kind, **place, settings={"attribute": "new_logo"})
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
    path = f"/api/sales/accounts/{account}/files/picture"
    assert send(rita, path, picture, "a.png", content_type="image/png").status_code == 200
    answer = rita.get(path, accept="image/*")
    assert (answer["Content-Type"], content(answer)) == ("image/png", picture)
    assert answer["Content-Disposition"].startswith("attachment;")


def _picture(account: str) -> str:
    """The path of an image column's files, with an upload and a download."""
    accounts = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    for kind in ("upload", "download"):
        place = {"module": accounts.module, "entity": accounts, "name": "picture"}
        Endpoint.objects.create(kind=kind, **place, settings={"attribute": "new_logo"})
    return f"/api/sales/accounts/{account}/files/picture"


def test_an_image_comes_as_a_thumbnail(rita: Caller, account: str) -> None:
    path, made = _picture(account), io.BytesIO()
    Image.new("RGB", (600, 300), "teal").save(made, "PNG")
    assert send(rita, path, made.getvalue(), "a.png", content_type="image/png").status_code == 200

    answer = rita.get(f"{path}?size=thumbnail", accept="image/*")

    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    with Image.open(io.BytesIO(answer.content)) as image:
        assert image.size == (144, 144)
    tag, whole = answer["ETag"], rita.get(path)
    assert tag != whole["ETag"]
    assert content(rita.get(f"{path}?size=full")) == content(whole) == made.getvalue()
    assert rita.get(f"{path}?size=thumbnail", if_none_match=tag).status_code == 304


def test_no_thumbnail_is_said_clearly(rita: Caller, account: str) -> None:
    path = _picture(account)
    assert rita.get(f"{path}?size=thumbnail").status_code == 404
    broken = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
    assert send(rita, path, broken, "a.png", content_type="image/png").status_code == 200
    assert rita.get(f"{path}?size=thumbnail").status_code == 404
    assert content(rita.get(path)) == broken


@pytest.mark.parametrize("size", ["small", "thumbnail,full"])
def test_another_size_is_refused(rita: Caller, account: str, size: str) -> None:
    answer = rita.get(f"{_picture(account)}?size={size}")
    assert answer.status_code == 400
    assert [error["parameter"] for error in answer.json()["errors"]] == ["size"]


def test_only_images_have_sizes(rita: Caller, account: str) -> None:
    assert send(rita, column(account)).status_code == 200
    assert rita.get(f"{column(account)}?size=thumbnail").status_code == 400
    paths = rita.get("/api/openapi.json").json()["paths"]
    names = [one.get("name") for one in paths["/api/sales/accounts/{id}/files/contract"]["get"]["parameters"]]
    assert "size" not in names


def test_an_empty_file_is_a_file(rita: Caller, account: str) -> None:
    note = send(rita, notes(account), b"", "empty.txt", content_type="text/plain").json()
    assert note["size"] == 0
    answer = rita.get(f"{notes(account)}/{note['id']}")
    assert (answer.status_code, content(answer), answer["Content-Length"]) == (200, b"", "0")
    assert rita.get(f"{notes(account)}/{note['id']}", range="bytes=0-").status_code == 416


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/pdf", 200),
        ("application/*", 200),
        ("text/html, */*;q=0.1", 200),
        ("image/png", 406),
        ("application/pdf;q=0", 406),
    ],
)
def test_accept_is_judged_by_the_type_of_the_file(
    rita: Caller, account: str, accept: str, status: int
) -> None:
    send(rita, column(account))
    assert rita.get(column(account), accept=accept).status_code == status


def test_a_list_of_notes_is_json(rita: Caller, account: str) -> None:
    assert rita.get(notes(account), accept="image/png").status_code == 406


def test_scripts_are_sent_as_attachments_that_are_not_sniffed(rita: Caller, account: str) -> None:
    page = send(rita, notes(account), b"<script>alert(1)</script>", "a.html", content_type="text/html").json()
    answer = rita.get(f"{notes(account)}/{page['id']}")
    assert answer["Content-Disposition"].startswith("attachment;")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_the_document_describes_both_ways(rita: Caller) -> None:
    document = json.loads(rita.get("/api/openapi.json").content)
    paths = document["paths"]
    contract = paths["/api/sales/accounts/{id}/files/contract"]
    assert set(contract["post"]["requestBody"]["content"]) == {"multipart/form-data"}
    assert {"200", "206", "416"} <= set(contract["get"]["responses"])
    assert "*/*" in contract["get"]["responses"]["200"]["content"]
    listed = paths["/api/sales/accounts/{id}/files/notes"]["get"]["responses"]["200"]["content"]
    schema = listed["application/json"]["schema"]
    name = schema.get("$ref", "").rpartition("/")[2]
    assert document["components"]["schemas"].get(name, schema)["type"] == "array"
    item = paths["/api/sales/accounts/{id}/files/notes/{fileId}"]["get"]
    named = document["components"]["parameters"]
    parameters = [named.get(each.get("$ref", "").rpartition("/")[2], each) for each in item["parameters"]]
    assert [parameter["name"] for parameter in parameters][:2] == ["id", "fileId"]


def test_a_content_type_that_none_can_be_is_passed_over(rita: Caller, account: str) -> None:
    sent = {"content_type": f"{'a' * 300}/b", "content_disposition": 'attachment; filename="a.pdf"'}
    answer = rita.post(notes(account), b"%PDF-1.4 x", **sent)
    assert answer.json()["contentType"] == "application/pdf"

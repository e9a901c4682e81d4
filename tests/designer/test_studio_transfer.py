"""Export and import in the studio: the plan first, all or nothing, deletions only when typed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from designer.documents.document_writer import export, to_bytes
from designer.loading import load
from designer.models import AuditEntry, Endpoint, Role, Version
from tests.callers import Caller
from tests.designer.studio import page


def _exported(client: Client, module: str = "") -> dict[str, Any]:
    answer = page(client, reverse("studio:export_document") + f"?module={module}")
    document: dict[str, Any] = json.loads(answer.content)
    return document


def send_document(client: Client, document: Any, **data: Any) -> Any:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    return client.post(reverse("studio:import"), {"document": SimpleUploadedFile("c.json", raw), **data})


def _import(client: Client, document: Any, **data: Any) -> Any:
    """As a person does it: the plan, then the import of just that."""
    planned = send_document(client, document, **data)
    assert planned.status_code == 200, planned.context["problems"]
    return send_document(client, document, **data, digest=planned.context["trial"].digest)


def _now() -> bytes:
    return to_bytes(export(load()))


def test_what_is_exported_is_imported_without_a_change(dora: Client) -> None:
    page(dora, reverse("studio:export"))
    answer = page(dora, reverse("studio:export_document"))
    assert answer.content == _now()
    assert "Nothing to change." in send_document(dora, answer.content).content.decode()
    assert AuditEntry.objects.filter(action="export").exists()


def test_one_module_is_exported_with_its_roles(dora: Client) -> None:
    document = _exported(dora, "service")
    assert [module["segment"] for module in document["modules"]] == ["service"]
    assert [role["name"] for role in document["roles"]] == ["support"]
    answer = dora.get(reverse("studio:export_document") + "?module=none", follow=True)
    assert "There is no module “none”" in answer.content.decode()


def test_the_plan_comes_first_and_changes_nothing(dora: Client) -> None:
    document, before = _exported(dora), _now()
    document["roles"].append({"name": "guest"})
    text = send_document(dora, document).content.decode()
    assert "+ role guest" in text
    assert _now() == before


def test_what_was_planned_is_imported_and_served_at_once(dora: Client, rita: Caller) -> None:
    document = _exported(dora)
    create = next(
        e for e in document["endpoints"] if (e["kind"], e.get("exposure")) == ("create", "accounts")
    )
    next(definition for definition in create["inputs"] if definition["name"] == "phone")["required"] = True
    assert _import(dora, document, _why="New portal").status_code == 302
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 400
    version = Version.objects.all()[0]
    assert (version.origin, version.account, version.note) == ("import", "designer", "New portal")


def test_a_configuration_that_has_changed_since_the_plan_is_planned_anew(dora: Client) -> None:
    document = _exported(dora)
    document["roles"].append({"name": "guest"})
    digest = send_document(dora, document).context["trial"].digest
    Role.objects.create(name="other")
    answer = send_document(dora, document, digest=digest)
    assert answer.status_code == 200
    assert not Role.objects.filter(name="guest").exists()


def test_what_the_document_lacks_stays_until_its_groups_name_is_typed(dora: Client) -> None:
    Role.objects.create(name="guest")
    document = _exported(dora)
    document["roles"] = [role for role in document["roles"] if role["name"] != "guest"]
    planned = send_document(dora, document)
    assert planned.context["trial"].removable == {"context": 1}
    _import(dora, document)
    assert Role.objects.filter(name="guest").exists()
    wrong = send_document(dora, document, **{"remove-context": "Context"})
    assert "type exactly that name" in wrong.content.decode()
    assert _import(dora, document, **{"remove-context": "context"}).status_code == 302
    assert not Role.objects.filter(name="guest").exists()


def test_an_import_never_takes_down_what_is_served(dora: Client) -> None:
    document, before = _exported(dora), _now()
    read = next(endpoint for endpoint in document["endpoints"] if endpoint["kind"] == "read")
    read["columns"] = [{"attribute": "gone"}]
    planned = send_document(dora, document)
    assert "has no “gone”" in planned.content.decode()
    refused = send_document(dora, document, digest=planned.context["trial"].digest)
    assert refused.status_code == 422
    assert "could no longer be served" in refused.content.decode()
    assert _now() == before


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not valid JSON"),
        (b'{"format": 1', "not valid JSON"),
        (b"[]", "JSON object"),
        (b'{"format": 3}', "format"),
        (b'{"format": 1, "format": 1}', "not valid JSON"),
        (b'{"format": 1, "odd": []}', "odd: is not known"),
        (b'{"format": 1, "roles": [{"name": "a\\u0000"}]}', "roles[0].name"),
        (b'{"format": 1, "endpoints": [{"kind": "teleport"}]}', "endpoints[0]"),
        (b'{"format": 1, "modules": [{"segment": "../etc"}]}', "segment"),
        (b"[" * 100_000, "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
    ],
)
def test_a_document_that_is_none_changes_nothing_and_says_why(dora: Client, raw: bytes, said: str) -> None:
    before = _now()
    answer = send_document(dora, raw)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert "Nothing was changed." in answer.content.decode()
    assert _now() == before


def test_a_file_is_asked_for(dora: Client) -> None:
    answer = dora.post(reverse("studio:import"))
    assert "Choose the file to import." in answer.content.decode()


def test_an_empty_database_takes_the_export_of_another_to_the_byte(dora: Client) -> None:
    document = _now()
    Endpoint.objects.all().delete()
    assert _import(dora, document).status_code == 302
    assert _now() == document

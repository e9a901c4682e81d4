"""The document and the page that developers read."""

from __future__ import annotations

import threading
from typing import Any

import yaml

from designer.kinds import KINDS
from designer.models import Binding, Endpoint, Input
from runtime.operations import OPERATIONS
from tests.callers import Caller


def _document(caller: Caller) -> Any:
    answer = caller.get("/api/openapi.json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_every_kind_has_an_operation_and_every_operation_a_kind() -> None:
    assert set(KINDS) == set(OPERATIONS)


def test_every_enabled_endpoint_is_in_the_document_and_nothing_else(anonymous: Caller) -> None:
    served = {
        (endpoint.path, method.lower())
        for endpoint in Endpoint.objects.filter(enabled=True)
        for method in KINDS[endpoint.kind].methods
    }
    # The list of an account's files has a path for each.
    served.add(("/api/sales/accounts/{id}/files/notes/{fileId}", "get"))
    own = {("/api/token", "post"), ("/api/token/refresh", "post"), ("/api/context", "get")}
    described = {
        (path, method) for path, operations in _document(anonymous)["paths"].items() for method in operations
    }
    assert described == served | own


def test_a_create_is_described_as_it_is(anonymous: Caller) -> None:
    operation = _document(anonymous)["paths"]["/api/sales/accounts"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["name"]["maxLength"] == 160
    assert 6 in schema["properties"]["industry"]["enum"]
    assert "200" in operation["responses"]
    assert "201" not in operation["responses"]
    assert "application/problem+json" in operation["responses"]["400"]["content"]
    assert operation["x-roles"] == ["sales-manager", "sales-rep"]
    assert operation["security"]


def test_operation_ids_are_unique(anonymous: Caller) -> None:
    operations = [
        operation for paths in _document(anonymous)["paths"].values() for operation in paths.values()
    ]
    ids = [operation["operationId"] for operation in operations]
    assert len(ids) == len(set(ids))


def test_an_edit_shows_at_the_next_fetch(anonymous: Caller) -> None:
    before = anonymous.get("/api/openapi.json")
    create = Endpoint.objects.get(kind="create", entity__segment="accounts")
    Input.objects.create(endpoint=create, name="website", type="String")
    Binding.objects.create(endpoint=create, attribute="websiteurl", source="input", value="website")
    after = anonymous.get("/api/openapi.json", if_none_match=before["ETag"])
    assert after.status_code == 200
    schema = after.json()["paths"]["/api/sales/accounts"]["post"]["requestBody"]["content"][
        "application/json"
    ]
    assert "website" in schema["schema"]["properties"]
    assert anonymous.get("/api/openapi.json", if_none_match=after["ETag"]).status_code == 304


def test_yaml_says_the_same_as_json(anonymous: Caller) -> None:
    assert yaml.safe_load(anonymous.get("/api/openapi.yaml").content) == _document(anonymous)


def test_threads_that_ask_at_once_get_one_document(anonymous: Caller) -> None:

    from runtime.openapi.document import Documents
    from runtime.openapi.views import _documents
    from runtime.serving import current

    served = current()
    documents = Documents(_documents._fixed)
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(documents.of(served).content)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_the_docs_page_asks_no_other_host(anonymous: Caller) -> None:
    page = anonymous.get("/api/docs", accept="text/html")
    assert page.status_code == 200
    assert b"//cdn" not in page.content
    assert b"<script>" not in page.content

"""What the tests do to Portico: calls, findings, and what *Try it* shows."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from designer.loading import load
from designer.models import Endpoint
from designer.platform import get_platform
from designer.readiness import Checker, Metadata
from tests.callers import Caller
from tests.designer.studio import page

KIND = "count-related"
CONTACTS = "contact_customer_accounts"
SITE = "https://contoso.example/about?from=portico"


def read(caller: Caller, path: str) -> Any:
    answer = caller.get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()


def made(caller: Caller, **values: Any) -> str:
    """The path of a new account."""
    answer = caller.post("/api/sales/accounts", {"name": "Extended", **values})
    assert answer.status_code in (200, 201), answer.content
    return str(answer["Location"]).removeprefix("http://testserver")


def findings(row: Endpoint) -> dict[str, str]:
    """What readiness says of an endpoint: the field by rule."""
    return {
        finding.rule: finding.field for finding in Checker(load(), Metadata(get_platform())).endpoint(row.pk)
    }


def stored(id: str, attribute: str) -> Any:
    return get_platform().retrieve("account", id, [attribute]).values[attribute]


def tried(client: Client, row: Endpoint, **data: Any) -> Any:
    """The outcome of *Try it*."""
    url = reverse("admin:designer_endpoint_try", args=[row.pk])
    token = page(client, url).context["token"]
    form = {"caller": "token", "roles": ["sales-rep"], "user": "", "mode": "dry", "_call": token, **data}
    answer = client.post(url, form, follow=True)
    assert answer.status_code == 200
    return answer.context["outcome"]


def schema_of(document: Any, path: str, method: str, *keys: str) -> Any:
    """The schema of a body in the OpenAPI document, wherever it stands there."""
    part = document["paths"][path][method]
    for key in keys:
        part = part[key]
    schema = part["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema

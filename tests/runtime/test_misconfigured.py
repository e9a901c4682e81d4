"""An endpoint that cannot be served as it is configured takes neither another one nor the studio with it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from designer.models import Binding, Input
from tests.callers import Caller
from tests.runtime.accounts import ACCOUNTS, an_account, endpoint


def broken_alone(max: Caller, dora: Client) -> None:
    """The create endpoint answers 503 and says so in no detail; all else is as ever."""
    refused = max.post(ACCOUNTS, {"name": "Contoso"})
    assert (refused.status_code, refused.json()["code"]) == (503, "endpoint_misconfigured")
    assert max.get(an_account()).status_code == 200
    assert max.get("/api/openapi.json").status_code == 200
    assert max.get("/api/schema/entities").status_code == 200
    row = endpoint("create").pk
    for page in ("/admin/", "/admin/designer/endpoint/", f"/admin/designer/endpoint/{row}/change/"):
        assert dora.get(page).status_code == 200


@pytest.mark.parametrize("type", ["Nothing", "File", ""])
def test_an_input_of_no_type(max: Caller, dora: Client, type: str) -> None:
    Input.objects.create(endpoint=endpoint("create"), name="odd", type=type)
    broken_alone(max, dora)


@pytest.mark.parametrize("source", ["input", "user", "fetch", "expression"])
@pytest.mark.parametrize("value", [{"a": 1}, ["name"], None])
def test_an_entity_property_from_nowhere(max: Caller, dora: Client, source: str, value: Any) -> None:
    Binding.objects.create(endpoint=endpoint("create"), attribute="websiteurl", source=source, value=value)
    broken_alone(max, dora)

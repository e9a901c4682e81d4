"""Configurations that use what the package adds go out and come in."""

from __future__ import annotations

import io
import json
from typing import Any

import jsonschema
from django.core.management import call_command
from driving import CONTACTS, KIND, SITE, made, read

from designer.documents.schema import document_schema
from designer.models import Endpoint
from tests.callers import Caller


def test_the_configuration_goes_out_and_comes_in(
    rita: Caller, create: Endpoint, counts: Endpoint, by_site: str, tmp_path: Any
) -> None:
    file = tmp_path / "configuration.json"
    call_command("exportconfig", output=file)
    document = json.loads(file.read_text())
    jsonschema.validate(document, document_schema())
    (kept,) = [item for item in document["endpoints"] if item["kind"] == KIND]
    assert kept["settings"] == {"relationship": CONTACTS}
    Endpoint.objects.filter(pk__in=[create.pk, counts.pk]).delete()
    call_command("importconfig", str(file), stdout=io.StringIO())
    path = made(rita, site=SITE)
    assert read(rita, f"{path}/counts/contacts") == {"count": 0}
    assert len(rita.client.get(by_site, {"site": SITE}).json()) == 1


def test_the_schema_of_documents_knows_the_kind() -> None:
    endpoint = document_schema()["$defs"]["EndpointDefinition"]
    assert KIND in endpoint["properties"]["kind"]["enum"]

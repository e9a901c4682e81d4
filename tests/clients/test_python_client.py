"""A Python client generated from the document, at work on the running service."""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.client_drive import drive
from scripts.clients import OPENAPI_TYPESCRIPT, TYPESCRIPT, fetch, main, python
from tests.clients.conftest import Installing
from tests.servers import Server, Site

pytestmark = pytest.mark.processes

PDF = b"%PDF-1.7\n%%EOF\n"


@pytest.fixture
def server(site: Site) -> Server:
    return site.start()


@pytest.fixture
def generated(server: Server, tmp_path: Path) -> Iterator[Any]:
    """Modules of the generated package by name: `generated("models")`."""
    python(fetch(server.url, "manager", "demo", tmp_path), tmp_path / "portico_client")
    sys.path.insert(0, str(tmp_path))
    yield lambda name: importlib.import_module(f"portico_client.{name}")
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("portico_client")]:
        del sys.modules[name]


def test_a_generated_client_does_a_full_round_of_work(server: Server, generated: Any) -> None:
    client = generated("client").AuthenticatedClient(server.url, server.token("manager"))
    models, types = generated("models"), generated("types")

    def call(operation: str, *given: Any, **more: Any) -> Any:
        return generated(f"api.sales.{operation}").sync_detailed(*given, client=client, **more)

    industry = models.OptionsAccountIndustrycode.BUSINESS_SERVICES
    body = models.CreateSalesAccountsInput(name="Generated", revenue=1250000.5, industry=industry)
    created = call("create_sales_accounts", body=body)
    assert created.status_code == 200, created.content
    id = created.parsed.id

    answer = call("read_sales_accounts", id, lcid=1031)
    assert answer.parsed.name == "Generated"
    assert answer.parsed.revenue == 1250000.5
    assert answer.parsed.industry == industry.value
    assert answer.parsed.industry_label == "Unternehmensdienstleistungen"

    change = models.UpdateSalesAccountsInput(phone="+49 30 1234567")
    changed = call("update_sales_accounts", id, body=change, if_match=answer.headers["ETag"])
    assert changed.status_code == 204
    stale = call("update_sales_accounts", id, body=change, if_match='"0"')
    assert (stale.status_code, stale.parsed.code) == (412, "version_mismatch")

    file = types.File(payload=io.BytesIO(PDF), file_name="contract.pdf", mime_type="application/pdf")
    form = models.UploadSalesAccountsContractBody(file=file)
    sent = call("upload_sales_accounts_contract", id, body=form)
    assert sent.status_code == 200, sent.content
    assert sent.parsed.size == len(PDF)
    assert call("download_sales_accounts_contract", id).parsed.payload.read() == PDF

    wrong = call("create_sales_accounts", body=models.CreateSalesAccountsInput(name=""))
    assert wrong.status_code == 400
    assert wrong.parsed.errors[0].pointer == "/name"

    version = call("read_sales_accounts", id).headers["ETag"]
    assert call("delete_sales_accounts", id, if_match=version).status_code == 204
    assert call("read_sales_accounts", id).status_code == 404


def test_every_operation_of_a_generated_client_can_be_sent(site: Site, tmp_path: Path) -> None:
    # Fewer wrong tokens than there are writes: the rest waits for the next minute, as in production.
    server = site.start(CALLER_RATE="0", ADDRESS_RATE="8")
    path = fetch(server.url, "manager", "demo", tmp_path)
    document = json.loads(path.read_bytes())
    operations = [
        operation
        for operations in document["paths"].values()
        for method, operation in operations.items()
        if method in ("get", "post", "put", "patch", "delete")
    ]
    named = importlib.import_module
    try:
        driven = drive(python(path, tmp_path / "driven_client"), document, server.url, "manager", "demo")
        assert driven == len(operations)
        assert callable(named("driven_client.api.tokens.token").sync)
    finally:
        for name in [name for name in sys.modules if name.startswith("driven_client")]:
            del sys.modules[name]


def test_the_command_makes_both_clients_in_a_folder_that_is_named_from_here(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installing: Installing
) -> None:
    installing(OPENAPI_TYPESCRIPT, TYPESCRIPT)
    server = site.start(CALLER_RATE="0", ADDRESS_RATE="0")
    monkeypatch.chdir(tmp_path)
    try:
        main(["--url", server.url, "--username", "agent", "--into", "for/agents"])
    finally:
        for name in [name for name in sys.modules if name.startswith("portico_client")]:
            del sys.modules[name]
    assert {"portico.d.ts", "portico_client"} <= {path.name for path in (tmp_path / "for/agents").iterdir()}

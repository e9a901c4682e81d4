"""A TypeScript client with generated types, at work on the running service; it needs npm."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts.clients import OPENAPI_TYPESCRIPT, TYPESCRIPT, fetch
from scripts.running import run
from tests.clients.conftest import Installing
from tests.servers import Site

pytestmark = pytest.mark.processes

WORK = Path(__file__).with_name("round_of_work.ts")
PACKAGES = (OPENAPI_TYPESCRIPT, TYPESCRIPT, "openapi-fetch@0.17.0")
STRICTLY = ("--strict", "--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext")


def test_a_generated_client_does_a_full_round_of_work(
    site: Site, installing: Installing, tmp_path: Path
) -> None:
    folder = tmp_path / "client"
    folder.mkdir()
    (folder / "node_modules").symlink_to(installing(*PACKAGES) / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    shutil.copy(WORK, folder)
    tools = folder / "node_modules" / ".bin"
    server = site.start()
    document = fetch(server.url, "manager", "demo", folder)
    run([str(tools / "openapi-typescript"), str(document), "-o", "portico.ts"], folder)
    run([str(tools / "tsc"), *STRICTLY, WORK.name], folder)
    said = run(["node", f"{WORK.stem}.js", server.url, server.token("manager")], folder)
    assert said.strip() == "done"

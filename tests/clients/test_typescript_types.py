"""TypeScript types generated from the document, and a linter's word on it; both need npm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.clients import OPENAPI_TYPESCRIPT, TYPESCRIPT, typescript
from scripts.running import Failed, run
from tests.callers import Caller
from tests.clients.conftest import Installing

REDOCLY = "@redocly/cli@2.38.0"
USE = """
import type { components, operations, paths } from "./portico";

type Create = operations["create.sales.accounts"];
const body: Create["requestBody"]["content"]["application/json"] = { name: "Contoso", industry: 6 };
const id: Create["responses"][200]["content"]["application/json"]["id"] = "6f0c1a52";
const path: keyof paths = "/api/sales/accounts/{id}";
const record = {} as components["schemas"]["read.sales.accounts.output"];
const revenue: number | null = record.revenue;
console.log(body, id, path, revenue);
"""
WRONG = 'const wrong: Create["requestBody"]["content"]["application/json"] = { industry: 4711 };\n'


@pytest.fixture
def document(max: Caller, tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_bytes(max.get("/api/openapi.json").content)
    return path


def test_generated_types_compile_strictly_and_know_what_is_wrong(
    installing: Installing, document: Path, tmp_path: Path
) -> None:
    tools = installing(OPENAPI_TYPESCRIPT, TYPESCRIPT) / "node_modules" / ".bin"
    typescript(document, tmp_path)
    check = [str(tools / "tsc"), "--strict", "--noEmit", "--lib", "es2020,dom", "use.ts"]
    (tmp_path / "use.ts").write_text(USE, encoding="utf-8")
    run(check, tmp_path)
    (tmp_path / "use.ts").write_text(USE + WRONG, encoding="utf-8")
    with pytest.raises(Failed, match="4711"):
        run(check, tmp_path)


def test_a_linter_finds_no_error_by_its_recommended_rules(
    installing: Installing, document: Path, tmp_path: Path
) -> None:
    redocly = installing(REDOCLY) / "node_modules" / ".bin" / "redocly"
    lint = [str(redocly), "lint", str(document), "--extends=recommended", "--format=json"]
    report = run(lint, tmp_path, REDOCLY_TELEMETRY="off", REDOCLY_SUPPRESS_UPDATE_NOTICE="true")
    summary = json.loads(report[report.index("{") : report.rindex("}") + 1])
    assert summary["totals"]["errors"] == 0

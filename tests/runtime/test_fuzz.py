"""The served API, called as its own document says and otherwise: no server error, nothing undocumented."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.servers import Site

pytestmark = pytest.mark.processes

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
MODES = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("username", ["rep", "agent", None])
def test_every_operation_keeps_what_the_document_promises(
    site: Site, username: str | None, mode: schemathesis.GenerationMode
) -> None:
    server = site.start(CALLER_RATE="0", ADDRESS_RATE="0")
    headers = {"Authorization": f"Bearer {server.token(username)}"} if username else {}
    document = schemathesis.openapi.from_url(f"{server.url}/api/openapi.json")
    called = 0
    for found in document.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()

        @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def call(case: schemathesis.Case[Any]) -> None:
            answer = case.call(headers=headers, timeout=30)
            case.validate_response(answer, checks=CHECKS)

        call()
        called += 1
    assert called >= 7

"""The served API, called as its document says and otherwise: nothing happens that is not written there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.servers import Server, Site, copied

pytestmark = pytest.mark.processes

# All that there are, but for what a document cannot say: see `judge`.
ALL = [CHECKS.get_one(name) for name in CHECKS.get_all_names()]
EVERYWHERE = [check for check in ALL if check not in (negative_data_rejection, positive_data_acceptance)]

# Why a value that its schema takes may be refused: JSON Schema has no words for these. Numbers in a query
# string are text, where 1e3 is none.
UNSPOKEN = {
    *("invalid_character", "out_of_range", "too_precise", "unknown_target", "bad_cursor", "invalid_value"),
    *("required", "unsupported_file_type", "invalid_file_name", "malformed_query_string"),
    # Where a grant is named, wrong passwords and tokens are 400: RFC 6749, 5.2.
    *("invalid_credentials", "invalid_token"),
    # Without a token it must be hard to guess, which depends on who calls.
    "invalid_idempotency_key",
}
EXAMPLES = 8


@pytest.fixture(scope="module")
def server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """What callers leave behind is for the next ones, as it is everywhere."""
    with copied(_prepared, tmp_path_factory.mktemp("fuzz") / "data", "fuzz") as site:
        yield site.start(CALLER_RATE="0", ADDRESS_RATE="0", LOGIN_FAILURES="1000000")


@pytest.mark.parametrize("username", ["rep", "manager", "agent", "customer", None])
def test_every_operation_keeps_what_the_document_promises(server: Server, username: str | None) -> None:
    headers = {"Authorization": f"Bearer {server.token(username)}"} if username else {}
    assert fuzz(server.url, headers) >= 7


def fuzz(url: str, headers: dict[str, str]) -> int:
    """Call every operation that the document shows to a caller with `headers`; how many there are."""
    document = schemathesis.openapi.from_url(f"{url}/api/openapi.json", headers=dict(headers))
    codes = documented_codes(document.raw_schema)
    called = 0
    for operation in operations(document, anonymous=not headers):
        call_it(operation, GenerationMode.POSITIVE, headers, codes[operation.label])
        if not takes_nothing(operation):
            call_it(operation, GenerationMode.NEGATIVE, headers, codes[operation.label])
        called += 1
    return called


def call_it(
    operation: Any, mode: GenerationMode, headers: dict[str, str], codes: dict[str, set[str]]
) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case: schemathesis.Case[Any]) -> None:
        answer = case.call(headers=headers, timeout=30)
        case.validate_response(answer, checks=EVERYWHERE, headers=headers)  # type: ignore[arg-type]
        judge(case, answer, mode)
        if answer.status_code >= 400:
            assert answer.json()["code"] in codes[str(answer.status_code)], operation.label

    call()


def operations(document: Any, *, anonymous: bool) -> Iterator[Any]:
    """Those of the API itself are the same for everyone: once is enough."""
    for outcome in document.get_all_operations():
        assert isinstance(outcome, Ok), outcome
        operation = outcome.ok()
        if anonymous or not operation.path.startswith(("/api/token", "/api/schema", "/api/openapi")):
            yield operation


def takes_nothing(operation: Any) -> bool:
    return not operation.body and all(
        parameter.name == "If-None-Match" for parameter in operation.iter_parameters()
    )


def judge(case: schemathesis.Case[Any], answer: Any, mode: GenerationMode) -> None:
    """What the schema takes is refused only for what schemas cannot say; what it does not take, is refused.

    But an empty parameter counts as absent, whatever type it has, so that a query string says less than it
    seems to.
    """
    if mode is GenerationMode.NEGATIVE:
        # A body without a length is refused as well, by a status that the check does not know as a refusal.
        if not case.query and answer.status_code != 411:
            case.validate_response(answer, checks=[negative_data_rejection])
    elif answer.status_code in (400, 415):
        problem = answer.json()
        errors = problem.get("errors", [])
        reasons = {error["code"] for error in errors} or {problem["code"]}
        in_query = {error["code"] for error in errors if "parameter" in error}
        assert reasons - (in_query & {"wrong_type"}) <= UNSPOKEN, (case.path, problem)


def documented_codes(document: Any) -> dict[str, dict[str, set[str]]]:
    """The codes that each operation's problems may have, by status."""
    responses = document["components"]["responses"]
    codes: dict[str, dict[str, set[str]]] = {}
    for path, path_item in document["paths"].items():
        for method, operation in path_item.items():
            names = {
                status: response["$ref"].rpartition("/")[2]
                for status, response in operation["responses"].items()
                if "$ref" in response
            }
            codes[f"{method.upper()} {path}"] = {
                status: set(responses[name].get("x-codes", ())) for status, name in names.items()
            }
    return codes

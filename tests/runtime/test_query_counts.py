"""What a steady request asks of the database: one query for the configuration, and the operation's own."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from designer.models import Input
from tests.callers import Caller
from tests.runtime.accounts import an_account

OWN = ("designer_", "runtime_", "auth_", "axes_", "token_blacklist_", "django_")


def _configuration(queries: CaptureQueriesContext) -> list[str]:
    """The statements on the product's own tables, the embedded platform's left out."""
    texts = [query["sql"] for query in queries.captured_queries]
    return [text for text in texts if any(f"{name}" in text for name in OWN)]


def test_a_steady_option_set_takes_one_query_in_all(anonymous: Caller) -> None:
    anonymous.get("/optionsets/priorities")
    with CaptureQueriesContext(connection) as queries:
        assert anonymous.get("/optionsets/priorities").status_code == 200
    assert len(queries) == 1, queries.captured_queries


def test_a_steady_create_takes_one_configuration_query(rita: Caller) -> None:
    rita.post("/api/sales/accounts", {"name": "Warm"})
    with CaptureQueriesContext(connection) as queries:
        assert rita.post("/api/sales/accounts", {"name": "Steady"}).status_code == 200
    assert len(_configuration(queries)) == 1, queries.captured_queries


def test_an_idempotency_key_takes_one_query_to_claim_and_one_to_keep_the_answer(rita: Caller) -> None:
    rita.post("/api/sales/accounts", {"name": "Warm"}, idempotency_key="warm")
    with CaptureQueriesContext(connection) as queries:
        assert rita.post("/api/sales/accounts", {"name": "A"}, idempotency_key="steady").status_code == 200
    own = [text for text in _configuration(queries) if "DELETE" not in text]
    assert len(own) == 3, own
    assert sum("INSERT" in text for text in own) == 1
    assert sum("UPDATE" in text for text in own) == 1


@pytest.mark.parametrize("more", [0, 300])
def test_the_first_request_after_an_edit_reads_only_what_changed(rita: Caller, more: int) -> None:
    from designer.models import Endpoint

    endpoint = Endpoint.objects.get(kind="create", entity__segment="accounts")
    Endpoint.objects.bulk_create(
        [
            Endpoint(kind="option-set", name=f"more-{at}", settings={"option_set": "new_priority"})
            for at in range(more)
        ]
    )
    rita.post("/api/sales/accounts", {"name": "Warm"})
    Input.objects.filter(endpoint=endpoint, name="phone").update(description="Changed")
    with CaptureQueriesContext(connection) as queries:
        assert rita.post("/api/sales/accounts", {"name": "After"}).status_code == 200
    # The revision, its log, the endpoint, and one for each table of its parts.
    assert len(_configuration(queries)) <= 10, _configuration(queries)


def test_a_steady_read_takes_one_query_for_the_configuration_and_one_for_the_record(rita: Caller) -> None:
    path = an_account()
    rita.get(path)
    with CaptureQueriesContext(connection) as queries:
        assert rita.get(path).status_code == 200
    assert len(_configuration(queries)) == 1, queries.captured_queries
    assert len(_of_accounts(queries)) == 1, queries.captured_queries
    # The third is the embedded platform's look at its own revision, in the read's transaction.
    assert len(queries) == 3, queries.captured_queries


def test_a_steady_update_and_delete_take_one_configuration_query(max: Caller) -> None:
    path = an_account()
    max.patch(path, {"phone": "1"})
    for method, body in (("PATCH", {"phone": "2"}), ("DELETE", None)):
        with CaptureQueriesContext(connection) as queries:
            assert max.request(method, path, body, if_match="*").status_code == 204
        assert len(_configuration(queries)) == 1, queries.captured_queries


def _of_accounts(queries: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in queries.captured_queries if "account" in query["sql"]]

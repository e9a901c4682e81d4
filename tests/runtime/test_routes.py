"""Which paths and methods there are."""

from __future__ import annotations

import pytest

from designer.models import Endpoint
from tests.callers import Caller
from tests.runtime.accounts import an_account


def test_an_unknown_path_is_a_problem_with_its_own_instance(rita: Caller) -> None:
    answer = rita.get("/api/sales/nothing-here")
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["instance"] == "/api/sales/nothing-here"
    # It may be there in a moment: nobody in between is to remember this.
    assert (answer["Cache-Control"], answer["Vary"]) == ("private, no-cache", "Authorization")


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api//sales/accounts",
        "/api/sales//accounts",
        "/api/SALES/accounts",
        "/api/sales/leads/..",
        "/api/sales/..;/accounts",
        "/optionsets/",
        "/optionsets/unknown",
        "/sales/accounts/optionsets/none",
    ],
)
def test_other_spellings_reach_nothing(rita: Caller, path: str) -> None:
    answer = rita.post(path, {"name": "A"})
    assert answer.status_code == 404, answer.content
    assert answer.json()["code"] == "not_found"


def test_a_trailing_slash_is_the_same_resource(rita: Caller) -> None:
    assert rita.post("/api/sales/accounts/", {"name": "Slash"}).status_code == 200


def test_a_wrong_method_says_which_ones_there_are(rita: Caller) -> None:
    answer = rita.delete("/api/sales/accounts")
    assert answer.status_code == 405
    assert answer["Allow"] == "POST, OPTIONS"


def test_options_says_which_methods_there_are(anonymous: Caller) -> None:
    answer = anonymous.request("OPTIONS", "/optionsets/priorities")
    assert answer.status_code == 204
    assert answer["Allow"] == "GET, HEAD, OPTIONS"


def test_method_override_headers_are_ignored(rita: Caller) -> None:
    assert rita.get("/api/sales/accounts", x_http_method_override="POST").status_code == 405


def test_head_answers_like_get_without_a_body(anonymous: Caller) -> None:
    whole = anonymous.get("/optionsets/priorities")
    head = anonymous.request("HEAD", "/optionsets/priorities")
    assert head.status_code == 200
    assert head.content == b""
    assert head["Content-Length"] == str(len(whole.content))
    assert head["ETag"] == whole["ETag"]


def test_a_disabled_endpoint_is_not_there(rita: Caller) -> None:
    Endpoint.objects.filter(kind="create", entity__segment="accounts").update(enabled=False)
    assert rita.post("/api/sales/accounts", {"name": "A"}).status_code == 404


def test_an_endpoint_that_cannot_be_built_leaves_the_others_alone(rita: Caller, anonymous: Caller) -> None:
    Endpoint.objects.filter(kind="local-option-set").update(settings={"option_set": "no_such_attribute"})
    broken = anonymous.get("/sales/accounts/optionsets/industries")
    assert broken.status_code == 503
    assert broken.json()["code"] == "endpoint_misconfigured"
    assert "no_such_attribute" not in broken.content.decode()
    assert rita.post("/api/sales/accounts", {"name": "Still served"}).status_code == 200


def test_settings_that_make_no_definition_break_only_their_endpoint(rita: Caller, anonymous: Caller) -> None:
    Endpoint.objects.filter(kind="local-option-set").update(settings={"nonsense": True})
    assert anonymous.get("/sales/accounts/optionsets/industries").status_code == 503
    assert anonymous.get("/optionsets/priorities").status_code == 200


def test_a_broken_endpoint_keeps_its_guard(anonymous: Caller) -> None:
    Endpoint.objects.filter(kind="create", entity__segment="accounts").update(settings={"nonsense": True})
    assert anonymous.post("/api/sales/accounts", {"name": "A"}).status_code == 401


def test_a_sane_request_id_is_kept_and_any_other_replaced(anonymous: Caller) -> None:
    assert (
        anonymous.get("/optionsets/priorities", x_request_id="trace-0815-a")["X-Request-Id"] == "trace-0815-a"
    )
    assert anonymous.get("/optionsets/priorities", x_request_id="a b\tc")["X-Request-Id"] != "a b\tc"


def test_an_answer_without_a_body_has_no_type(rita: Caller) -> None:
    path = an_account()
    changed = rita.patch(path, {"phone": "1"})
    unchanged = rita.get(path, if_none_match=rita.get(path).headers["ETag"])
    assert (changed.status_code, unchanged.status_code) == (204, 304)
    assert "Content-Type" not in changed.headers
    assert "Content-Type" not in unchanged.headers

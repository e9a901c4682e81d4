"""Callers of the API while Dataverse fails: each call is answered, or refused in words that say what to do.

At first nothing is known of the platform, as after a first start; then what fails is what it says of records.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.sentences import for_log
from designer.models import Endpoint, ExposedEntity
from tests.callers import Caller, account
from tests.contract.test_files import PNG
from tests.dataverse.conftest import Failing, Serving
from tests.dataverse.reaching import platform_at
from tests.dataverse.test_studio_faults import FAULTS, FOREVER, PATHS
from tests.runtime.accounts import ACCOUNTS

pytestmark = pytest.mark.processes

ACCOUNT = f"{ACCOUNTS}/{FIRST_ACCOUNT}"
CALLS = (
    *(("GET", path, None) for path in ("/optionsets/priorities", "/api/context", ACCOUNT)),
    *(("GET", path, None) for path in ("/api/sales/queries/accounts", f"{ACCOUNT}/files/contract")),
    *(("GET", path, None) for path in (f"{ACCOUNT}/files/notes", "/api/schema", "/api/openapi.json")),
    ("POST", ACCOUNTS, {"name": "While it fails"}),
    ("PATCH", ACCOUNT, {"phone": "1"}),
    ("POST", "/api/sales/actions/ping", {"message": "Hello"}),
    ("DELETE", f"{ACCOUNTS}/00000000-0000-4000-8000-00000000dead", None),
)
# What a caller may be told of a failing platform, by status: what to do.
ADVICE = {502: "Quote the requestId", 503: "Try again", 504: "Try again in a minute"}
COLD = {
    "429 with a time": "The platform asks callers to slow down.",
    "429 without a time": "The platform asks callers to slow down.",
    "a reset": "The service has no connection to the platform.",
    "slow": "metadata",
}
"""What a caller is told of how the platform fails, by the fault, while its metadata is not known."""
SECONDS = 2.0
"""So long the platform has for each request here: the slow one takes longer on any machine."""


@pytest.fixture
def remote(serving: Serving, failing: Failing, settings: Any) -> Failing:
    """The service's platform is Dataverse, of which nothing is known, and which has little time."""
    settings.PORTICO = {**settings.PORTICO, "PLATFORM_TIMEOUT": SECONDS}
    serving(platform_at(failing.server, retries=0, timeout=SECONDS, metadata_timeout=SECONDS))
    return failing


def _refused(caller: Caller, fault: str) -> dict[str, tuple[int, str]]:
    """Make each call. Return the status and the text of those that the service or the platform failed."""
    # Each of those that the platform keeps waiting takes as long as it has.
    calls = CALLS[:3] if fault == "slow" else CALLS
    answers = {f"{method} {path}": caller.request(method, path, body) for method, path, body in calls}
    return {
        call: (answer.status_code, answer.content.decode())
        for call, answer in answers.items()
        if answer.status_code >= 500
    }


def _says_what_to_do(status: int, text: str, *, may_be_written: bool = False) -> bool:
    advice = ADVICE.get(status, "?")
    if may_be_written and ("in time" in text or "ended before the answer" in text):
        advice = "look before you send it again"
    return advice in text and "html" not in text and "prv" not in text


@pytest.mark.parametrize("fault", FAULTS)
def test_calls_at_a_first_start_say_what_to_do(remote: Failing, fault: str) -> None:
    max = account("manager")
    remote.arm(*({"path": path, **FOREVER, **FAULTS[fault]} for path in PATHS))

    refused = _refused(max, fault)

    assert refused
    assert {call: said for call, said in refused.items() if not _says_what_to_do(*said)} == {}
    # Not that the platform is away, where it has refused or is slow.
    assert {call: said for call, said in refused.items() if COLD.get(fault, "") not in said[1]} == {}


@pytest.mark.parametrize("fault", FAULTS)
def test_calls_say_what_to_do_when_records_fail(remote: Failing, fault: str) -> None:
    max = account("manager")
    assert max.get(ACCOUNT).status_code == 200
    remote.arm({"path": "/accounts|/annotations|/new_", **FOREVER, **FAULTS[fault]})

    refused = _refused(max, fault)

    assert refused
    assert {
        call: said
        for call, said in refused.items()
        if not _says_what_to_do(*said, may_be_written=not call.startswith("GET "))
    } == {}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"status": 503}, "The platform takes no calls at the moment."),
        ({"cut": "answer"}, "The service has no connection to the platform."),
        ({"status": 429}, "The platform asks callers to slow down."),
    ],
)
def test_a_call_says_how_the_platform_fails(remote: Failing, fault: dict[str, Any], said: str) -> None:
    max = account("manager")
    assert max.get(ACCOUNT).status_code == 200
    remote.arm({"path": "/accounts", **FOREVER, **fault})

    answer = max.get(ACCOUNT)

    assert (answer.status_code, answer.json()["detail"].partition(" Try again")[0]) == (503, said)


def test_a_write_whose_version_is_not_told_is_answered_without_an_etag(remote: Failing) -> None:
    max = account("manager")
    assert max.patch(ACCOUNT, {"phone": "1"}).headers["ETag"].startswith('"')
    remote.arm({"method": "PATCH", "path": "/accounts", "executed": True, "status": 204, **FOREVER})

    answer = max.patch(ACCOUNT, {"phone": "2"})

    assert (answer.status_code, answer.get("ETag")) == (204, None)
    remote.arm()
    assert max.get(ACCOUNT).json()["phone"] == "2"


def test_a_write_whose_answer_is_lost_may_be_there(remote: Failing) -> None:
    max = account("manager")
    assert max.get(ACCOUNT).status_code == 200
    remote.arm({"method": "POST", "path": "/new_Ping", **FOREVER, "executed": True, "cut": "answer"})

    answer = max.post("/api/sales/actions/ping", {"message": "Hello"})

    assert (answer.status_code, answer.json()["code"]) == (503, "platform_unavailable")
    assert "ended before the answer" in answer.json()["detail"]
    assert "look before you send it again" in answer.json()["detail"]


def test_a_write_whose_answer_cannot_be_read_may_be_there(remote: Failing) -> None:
    max = account("manager")
    name = "Answered by a gateway"
    garbled = {"executed": True, "status": 200, "body": "<html>"}
    assert max.get(ACCOUNT).status_code == 200
    remote.arm({"method": "POST", "path": "/accounts", **FOREVER, **garbled})
    written = max.post(ACCOUNTS, {"name": name})
    remote.arm({"method": "GET", "path": "/accounts", **FOREVER, **garbled})
    read = max.get(ACCOUNT)
    remote.arm()

    assert (written.status_code, read.status_code) == (502, 502)
    assert "look before you send it again. Quote the requestId" in written.json()["detail"]
    assert "look before" not in read.json()["detail"]
    assert max.get(f"/api/sales/queries/accounts?name={name}").json()["count"] == 1


@pytest.mark.parametrize(
    ("fault", "said", "advised"),
    [
        ({"status": 502}, "UnexpectedAnswer: The platform answers 502.", "proxy or a sign-in page"),
        ({"status": 503}, "Unavailable: The platform answers 503.", "service health"),
        ({"status": 401}, "TokenNotTaken: The platform refuses the service's token", "application user"),
        ({"status": 429}, "Throttled: The platform answers 429.", "CRM_CLIENTS"),
    ],
)
def test_the_log_says_how_the_platform_fails_and_what_to_do(
    remote: Failing, caplog: pytest.LogCaptureFixture, fault: dict[str, Any], said: str, advised: str
) -> None:
    max = account("manager")
    assert max.get(ACCOUNT).status_code == 200
    remote.arm({"path": "/accounts", **FOREVER, **fault})

    max.get(ACCOUNT)

    [line] = [record for record in caplog.records if record.name == "portico.failures"]
    assert line.exc_info is not None
    assert for_log(line.exc_info[1] or Exception()).startswith(said)
    assert advised in vars(line)["advice"]


def test_a_record_without_a_version_is_not_called_changed(remote: Failing) -> None:
    max = account("manager")
    told = {"accountid": FIRST_ACCOUNT, "name": "Without a version"}
    remote.arm({"method": "GET", "path": r"/accounts\(", **FOREVER, "status": 200, "body": json.dumps(told)})
    read = max.get(ACCOUNT)

    refused = max.patch(ACCOUNT, {"phone": "1"}, if_match=read["ETag"])

    assert (read.status_code, read["ETag"][:2]) == (200, '".')
    assert max.get(ACCOUNT, if_none_match=read["ETag"]).status_code == 304
    assert (refused.status_code, refused.json()["code"]) == (400, "if_match_unsupported")
    assert max.patch(ACCOUNT, {"phone": "1"}, if_match="*").status_code == 204


def test_a_missing_privilege_is_no_mistake_of_the_configuration(remote: Failing) -> None:
    max = account("manager")
    metadata = "/EntityDefinitions|/RetrieveMetadataChanges"
    remote.arm({"path": metadata, **FOREVER, **FAULTS["no privilege"]})

    answer = max.get("/api/context")

    assert (answer.status_code, answer.json()["code"]) == (502, "platform_error")


def _with_picture(caller: Caller) -> str:
    """An account's image, as a path of the API."""
    exposed = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    for kind in ("upload", "download"):
        place = {"module": exposed.module, "entity": exposed, "name": "picture"}
        Endpoint.objects.create(kind=kind, **place, settings={"attribute": "new_logo"})
    id = caller.post(ACCOUNTS, {"name": "With a picture"}).json()["id"]
    path = f"{ACCOUNTS}/{id}/files/picture"
    named = {"content_type": "image/png", "content_disposition": 'attachment; filename="a.png"'}
    assert caller.post(path, PNG, **named).status_code == 200
    return path


def test_an_image_without_a_full_size_copy_comes_as_its_thumbnail(remote: Failing) -> None:
    max = account("manager")
    path = _with_picture(max)
    thumbnail = {"status": 200, "headers": {"mimetype": "image/png"}, "body": "x"}
    remote.arm(
        {"method": "GET", "path": r"/\$value$", "status": 204},
        {"method": "GET", "path": r"/\$value$", **thumbnail, **FOREVER},
    )

    answer = max.get(path, accept="image/*")

    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert b"".join(answer) == b"x"
    assert remote.struck()[0] == 1


def test_an_image_of_which_nothing_is_left_is_not_there(remote: Failing) -> None:
    max = account("manager")
    path = _with_picture(max)
    remote.arm({"method": "GET", "path": r"/\$value$", "status": 204, **FOREVER})

    for asked in (path, f"{path}?size=full", f"{path}?size=thumbnail"):
        answer = max.get(asked, accept="image/*")
        assert (answer.status_code, b"".join(answer)[:1] == b"{") == (404, True), answer

"""For whom the client asks: by the user's id in Dataverse, or by its object id in Entra ID."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from crmbox.demo.people import FIRST_ACCOUNT, MAX_MANAGER, RITA_REP
from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import AccessDenied, MissingPrivilege, PlatformError
from crmclient.platform import Call
from crmclient.values import Reference
from designer.overview import forget
from designer.platform import get_platform
from tests.callers import account
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import settings_for
from tests.runtime.accounts import ACCOUNTS

pytestmark = pytest.mark.processes

OBJECT_ID = "azureactivedirectoryobjectid"
ASKED = r"/systemusers\("


def created_by(platform: DataversePlatform, caller: str) -> str:
    made = platform.create("account", {"name": "Made for somebody"}, call=Call(caller=caller))
    maker = platform.retrieve("account", made.id, ["createdby"]).values["createdby"]
    assert isinstance(maker, Reference)
    return maker.id


def given_object_id(failing: Failing, user: str) -> str:
    object_id = str(uuid.uuid4())
    failing.platform().update("systemuser", user, {OBJECT_ID: object_id})
    return object_id


def answered(user: str, object_id: str | None) -> str:
    return json.dumps({"@odata.etag": 'W/"1"', "systemuserid": user, OBJECT_ID: object_id})


@pytest.mark.parametrize("by_object_id", [False, True])
def test_a_record_is_made_for_the_caller(failing: Failing, by_object_id: bool) -> None:
    given_object_id(failing, RITA_REP)
    platform = failing.platform(by_object_id=by_object_id)
    failing.arm({"path": ASKED, "times": None, "delay": 0.001, "executed": True})

    assert [created_by(platform, RITA_REP) for _ in range(2)] == [RITA_REP] * 2
    assert failing.struck() == [int(by_object_id)]


def test_the_object_id_says_who_it_is(failing: Failing) -> None:
    """Told that Rita has Max's object id, the client acts as Max: nothing else names the user."""
    body = answered(RITA_REP, given_object_id(failing, MAX_MANAGER))
    platform = failing.platform(by_object_id=True)
    failing.arm({"path": ASKED, "status": 200, "body": body})

    assert created_by(platform, RITA_REP) == MAX_MANAGER


def test_a_user_without_an_object_id_is_named_by_its_own(failing: Failing) -> None:
    platform = failing.platform(by_object_id=True)
    failing.arm({"path": ASKED, "status": 200, "body": answered(RITA_REP, None)})

    assert created_by(platform, RITA_REP) == RITA_REP


@pytest.mark.parametrize("by_object_id", [False, True])
def test_nobody_acts_as_a_user_who_is_unknown(failing: Failing, by_object_id: bool) -> None:
    platform = failing.platform(by_object_id=by_object_id)

    with pytest.raises(AccessDenied):
        platform.create("account", {"name": "x"}, call=Call(caller=str(uuid.uuid4())))


DENIED = '{{"error": {{"code": "0x80040220", "message": "Principal user is missing {} privilege"}}}}'
ACT_FOR_OTHERS = "prvActOnBehalfOfAnotherUser"


def test_a_privilege_is_missing_for_the_user_or_for_the_service_itself(failing: Failing) -> None:
    platform = failing.platform()
    as_user = Call(caller=RITA_REP)

    def refused_for(privilege: str) -> Exception:
        failing.arm({"method": "POST", "path": "/accounts", "status": 403, "body": DENIED.format(privilege)})
        with pytest.raises(PlatformError) as raised:
            platform.create("account", {"name": "x"}, call=as_user)
        assert isinstance(raised.value, AccessDenied | MissingPrivilege)
        assert raised.value.privilege == privilege
        return raised.value

    assert isinstance(refused_for("prvCreateAccount"), AccessDenied)
    assert isinstance(refused_for(ACT_FOR_OTHERS), MissingPrivilege)


def test_the_log_names_the_privilege_that_a_user_lacks_and_the_caller_is_not_told(
    portico: None, failing: Failing, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    here = {**settings_for(failing.server), "CRM_IMPERSONATE": True}
    settings.PORTICO = {**settings.PORTICO, **here}
    get_platform.cache_clear()
    forget()
    try:
        max = account("manager")
        path = f"{ACCOUNTS}/{FIRST_ACCOUNT}"
        assert max.get(path).status_code == 200
        failing.arm({"path": "/accounts", "status": 403, "body": DENIED.format("prvReadAccount")})
        with caplog.at_level("INFO", "portico.failures"):
            answer = max.get(path)
    finally:
        get_platform.cache_clear()
        forget()

    assert (answer.status_code, answer.json()["code"]) == (403, "platform_denied")
    assert "prvReadAccount" not in answer.content.decode()
    [line] = [record for record in caplog.records if record.name == "portico.failures"]
    assert vars(line)["privilege"] == "prvReadAccount"

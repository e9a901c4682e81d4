"""Delete: gone for good, and only what is meant."""

from __future__ import annotations

from typing import Any

import pytest

from crmclient import Reference
from crmclient.errors import RecordNotFound
from designer.models import Endpoint
from tests.callers import Caller
from tests.runtime.accounts import ACCOUNTS, NOBODY, an_account, endpoint, stored


@pytest.fixture
def unguarded(portico: None) -> None:
    """Deletes take no version."""
    Endpoint.objects.filter(pk=endpoint("delete").pk).update(settings={})


def _is_there(path: str) -> bool:
    try:
        stored(path, "name")
    except RecordNotFound:
        return False
    return True


def _tag(caller: Caller, path: str) -> Any:
    return caller.get(path)["ETag"]


def test_a_deleted_account_is_gone(max: Caller) -> None:
    path = an_account()
    answer = max.delete(path, if_match=_tag(max, path))
    assert (answer.status_code, answer.content) == (204, b"")
    assert not _is_there(path)
    assert max.get(path).status_code == 404
    assert max.delete(path, if_match="*").status_code == 404


def test_without_a_version_428(max: Caller) -> None:
    path = an_account()
    assert max.delete(path).status_code == 428
    assert _is_there(path)


def test_a_stale_version_is_412(max: Caller) -> None:
    path = an_account()
    held = _tag(max, path)
    max.patch(path, {"phone": "1"})
    assert max.delete(path, if_match=held).status_code == 412
    assert max.delete(path, if_match=f"W/{_tag(max, path)}").status_code == 412
    assert _is_there(path)
    assert max.delete(path, if_match=f'"1", {_tag(max, path)}').status_code == 204


def test_a_version_is_compared_where_none_is_required(unguarded: None, max: Caller) -> None:
    path = an_account()
    assert max.delete(path, if_match='"1"').status_code == 412
    assert max.delete(path).status_code == 204


@pytest.mark.parametrize(("id", "status"), [(NOBODY, 404), ("nonsense", 400)])
def test_what_is_not_there_cannot_be_deleted(unguarded: None, max: Caller, id: str, status: int) -> None:
    assert max.delete(f"{ACCOUNTS}/{id}").status_code == status


def test_what_others_need_stays(unguarded: None, max: Caller) -> None:
    path = an_account()
    an_account(parentaccountid=Reference("account", path.rpartition("/")[2]))
    answer = max.delete(path)
    assert (answer.status_code, answer.json()["code"]) == (409, "state_conflict")
    assert _is_there(path)


def test_parameters_are_refused(unguarded: None, max: Caller) -> None:
    path = an_account()
    assert max.delete(f"{path}?force=true").status_code == 400
    assert _is_there(path)


def test_only_managers_delete(rita: Caller, anonymous: Caller) -> None:
    path = an_account()
    assert rita.delete(path, if_match="*").status_code == 403
    assert anonymous.delete(path, if_match="*").status_code == 401
    assert _is_there(path)

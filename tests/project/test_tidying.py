"""What has expired is removed beside the requests: in small steps, by one process at a time."""

from __future__ import annotations

import datetime as dt
import io
import time
import uuid

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection, models
from rest_framework_simplejwt.token_blacklist.models import BlacklistedToken, OutstandingToken

from designer.models import AuditEntry, EndpointCalls, TriedCall
from project import exclusive_jobs
from project.expired_rows import kinds
from project.housekeeping import tidy
from project.models import Claim
from runtime.models import FailedLogins, IdempotencyRecord, KnownNetwork, RefusalCount, TokenFamily
from tests.audit_log import entry_of
from tests.callers import Caller, account
from tests.servers import Site

NOW = dt.datetime.now(dt.UTC)
LONG_AGO = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def keys(count: int, expires: dt.datetime) -> None:
    IdempotencyRecord.objects.bulk_create(
        IdempotencyRecord(
            digest=uuid.uuid4().hex, body_digest="", record_id="", deadline=expires, expires=expires
        )
        for _ in range(count)
    )


def rows_of_each_kind() -> dict[type[models.Model], int]:
    """Old rows and new ones; how many are new, by model."""
    soon = NOW + dt.timedelta(hours=1)
    user = User.objects.create(username="somebody")
    keys(3, LONG_AGO)
    keys(1, soon)
    for number, expires in enumerate((LONG_AGO, LONG_AGO, soon)):
        token = OutstandingToken.objects.create(user=user, jti=f"jti{number}", token="", expires_at=expires)
        BlacklistedToken.objects.create(token=token)
        TokenFamily.objects.create(user=user, issued_at=LONG_AGO, expires_at=expires)
        Session.objects.create(session_key=f"session{number}", session_data="", expire_date=expires)
    for when in (LONG_AGO, NOW):
        FailedLogins.objects.create(account=f"nobody {when}", since=when, last_at=when)
        KnownNetwork.objects.create(user=user, network=f"{when}", last_at=when)
        entry_of(when)
        LogEntry.objects.bulk_create([LogEntry(action_time=when, user=user, action_flag=CHANGE)])
        RefusalCount.objects.create(reason="expired", day=when.date(), last_at=when)
        tried = TriedCall.objects.create(token=uuid.uuid4(), account="", endpoint=1, sent="")
        TriedCall.objects.filter(pk=tried.pk).update(made_at=when)
        EndpointCalls.objects.create(endpoint="used", hour=when, last_at=when)
    # The last of an endpoint stays: it says when that was.
    EndpointCalls.objects.create(endpoint="no longer used", hour=LONG_AGO, last_at=LONG_AGO)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM crm_file")
        cursor.executemany(
            "INSERT INTO crm_file (id, entity, record, attribute, attached, begun_at) "
            "VALUES (%s, 'account', 'r', 'a', %s, %s)",
            [("lost", False, LONG_AGO), ("under way", False, NOW), ("kept", True, LONG_AGO)],
        )
    counted = (
        OutstandingToken,
        BlacklistedToken,
        TokenFamily,
        Session,
        FailedLogins,
        KnownNetwork,
        AuditEntry,
        LogEntry,
        RefusalCount,
        TriedCall,
    )
    return {IdempotencyRecord: 1, EndpointCalls: 2, **dict.fromkeys(counted, 1)}


@pytest.mark.django_db
def test_all_that_has_expired_goes_and_nothing_else() -> None:
    entries = AuditEntry.objects.count()
    expected = rows_of_each_kind()
    said = io.StringIO()
    call_command("tidy", stdout=said)
    expected[AuditEntry] += entries
    for model, count in expected.items():
        assert model._default_manager.count() == count, model
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM crm_file ORDER BY id")
        assert cursor.fetchall() == [("kept",), ("under way",)]
    assert "Idempotency keys: 3 removed" in said.getvalue()
    assert dict(tidy()) == dict.fromkeys((kind.name for kind in kinds()), 0)


@pytest.mark.django_db
def test_a_step_removes_so_many_at_most() -> None:
    keys(12, LONG_AGO)
    remove = kinds()[0].remove
    assert [remove(5), remove(5), remove(5), remove(5)] == [5, 5, 2, 0]


@pytest.mark.django_db
def test_an_audit_log_without_days_is_kept_for_ever(settings: object) -> None:
    from django.conf import settings as now

    entry = entry_of(LONG_AGO)
    settings.PORTICO = {**now.PORTICO, "AUDIT_DAYS": 0}  # type: ignore[attr-defined]
    call_command("tidy", stdout=io.StringIO())
    assert AuditEntry.objects.filter(pk=entry.pk).exists()


@pytest.mark.django_db
def test_one_at_a_time_has_a_job_until_its_time_is_up_or_it_is_given_back() -> None:
    assert exclusive_jobs.take("job", "a", 60)
    assert exclusive_jobs.take("job", "a", 60)
    assert not exclusive_jobs.take("job", "b", 60)
    exclusive_jobs.give_back("job", "b")
    assert not exclusive_jobs.take("job", "b", 60)
    exclusive_jobs.give_back("job", "a")
    assert exclusive_jobs.take("job", "b", 60)
    Claim.objects.update(until=LONG_AGO)
    assert exclusive_jobs.take("job", "a", 60)
    assert exclusive_jobs.take("another job", "b", 60)


@pytest.mark.django_db
def test_the_command_says_so_when_another_process_is_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    keys(1, LONG_AGO)
    assert exclusive_jobs.take("tidying", "another", 60)
    # While the command looks again, the other process goes on to its next step.
    monkeypatch.setattr(
        "project.exclusive_jobs.sleep", lambda seconds: exclusive_jobs.take("tidying", "another", 60)
    )
    with pytest.raises(CommandError, match="Another process"):
        call_command("tidy")
    assert IdempotencyRecord.objects.count() == 1
    exclusive_jobs.give_back("tidying", "another")
    call_command("tidy", stdout=io.StringIO())
    assert IdempotencyRecord.objects.count() == 0


@pytest.mark.django_db
def test_the_command_takes_over_from_a_process_that_was_killed() -> None:
    keys(1, LONG_AGO)
    assert exclusive_jobs.take("tidying", "killed", 1)
    call_command("tidy", stdout=io.StringIO())
    assert IdempotencyRecord.objects.count() == 0


def test_no_request_removes_what_others_left(rita: Caller) -> None:
    keys(50, LONG_AGO)
    user = User.objects.get(username="rep")
    OutstandingToken.objects.create(user=user, jti="old", token="", expires_at=LONG_AGO)
    assert rita.post("/api/sales/accounts", {"name": "Mine"}, idempotency_key="mine").status_code == 200
    account("rep")
    assert IdempotencyRecord.objects.filter(expires=LONG_AGO).count() == 50
    assert OutstandingToken.objects.filter(jti="old").exists()


@pytest.mark.processes
def test_a_service_that_nobody_calls_tidies_by_itself(site: Site) -> None:
    site.manage("shell", "-c", _EXPIRED)
    server = site.start(WORKERS="2")
    ends = time.monotonic() + 180
    while "Expired rows were removed" not in server.output():
        assert time.monotonic() < ends, server.output()
        time.sleep(0.1)
    assert '"removed": {"Idempotency keys": 1}' in server.output()
    assert "Idempotency keys: 0 removed" in site.manage("tidy")


_EXPIRED = """
import datetime as dt
from runtime.models import FailedLogins, IdempotencyRecord, KnownNetwork, TokenFamily
old = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
IdempotencyRecord.objects.create(digest="d", body_digest="", record_id="", deadline=old, expires=old)
"""

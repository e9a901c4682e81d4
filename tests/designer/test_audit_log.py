"""The audit log is append-only: the database itself refuses to change an entry, and to delete a young one."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client

from designer.documents.document_writer import export, to_bytes
from designer.history.recording import Author, Origin, record_outside, recording
from designer.imports.document_import import import_document
from designer.loading import load
from designer.models import AuditEntry, Endpoint, Issuer, Module, Role, Version
from designer.triggers import put_back
from designer.triggers.append_only import AUDIT_TABLE
from project.expired_rows import kinds
from tests.audit_log import entry_of, let_be_emptied
from tests.designer.studio import change_url, filled, page
from tests.runtime import forge
from tests.runtime.issuers import KEY

pytestmark = pytest.mark.django_db

NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)


def _raw(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


@pytest.fixture
def kept_for(settings: Any) -> Iterator[Any]:
    """Set AUDIT_DAYS, as a `manage.py prepare` would make the database know of it."""

    def keep(days: int) -> None:
        settings.PORTICO = {**settings.PORTICO, "AUDIT_DAYS": days}
        put_back()

    return keep  # type: ignore[return-value]


ZEST = {"issuer": "https://zest.example", "audiences": ["zest"], "roles": ["support"]}
CHANGES = [
    f"UPDATE {AUDIT_TABLE} SET account = 'another'",
    f"UPDATE {AUDIT_TABLE} SET at = '2020-01-01 00:00:00'",
    f"UPDATE {AUDIT_TABLE} SET id = id + 1000",
    f"DELETE FROM {AUDIT_TABLE}",
]
OF_POSTGRESQL = [f"TRUNCATE {AUDIT_TABLE}", f"TRUNCATE {AUDIT_TABLE} CASCADE"]
OF_SQLITE = [
    f"INSERT OR REPLACE INTO {AUDIT_TABLE} SELECT id, at, 'another', address, action, subject, detail "
    f"FROM {AUDIT_TABLE}",
    f"UPDATE OR REPLACE {AUDIT_TABLE} SET account = 'another'",
]


def test_no_statement_changes_or_deletes_a_young_entry() -> None:
    entry = entry_of(NOW)
    before = list(AuditEntry.objects.values())
    own = OF_POSTGRESQL if connection.vendor == "postgresql" else OF_SQLITE
    for sql in [*CHANGES, *own]:
        with pytest.raises(DatabaseError), transaction.atomic():
            _raw(sql)
        assert list(AuditEntry.objects.values()) == before, sql
    for harm in (entry.delete, entry.save, AuditEntry.objects.all().delete):
        with pytest.raises(IntegrityError, match="audit entries cannot be"), transaction.atomic():
            harm()


def test_an_old_entry_is_deleted_and_never_changed() -> None:
    old, young = entry_of(NOW - 401 * DAY), entry_of(NOW - 399 * DAY)
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditEntry.objects.filter(pk=old.pk).update(account="another")
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditEntry.objects.filter(pk=young.pk).delete()
    AuditEntry.objects.filter(pk=old.pk).delete()
    assert list(AuditEntry.objects.filter(pk__in=(old.pk, young.pk))) == [young]


def test_the_command_removes_what_the_database_lets_go_of(kept_for: Any) -> None:
    kept_for(30)
    entry_of(NOW - 31 * DAY)
    young = entry_of(NOW - 29 * DAY)
    said = io.StringIO()
    call_command("tidy", stdout=said)
    assert "Audit entries: 1 removed" in said.getvalue()
    assert AuditEntry.objects.filter(pk=young.pk).exists()


def test_kept_for_ever_means_for_ever(kept_for: Any) -> None:
    kept_for(0)
    old = entry_of(NOW - 4000 * DAY)
    with pytest.raises(IntegrityError), transaction.atomic():
        old.delete()


def test_fewer_days_without_a_preparation_are_told_and_stop_nothing_else(settings: Any, caplog: Any) -> None:
    """The database still refuses what it was told to keep; all else that has expired goes."""
    settings.PORTICO = {**settings.PORTICO, "AUDIT_DAYS": 10}
    entry = entry_of(NOW - 20 * DAY)
    said = io.StringIO()
    call_command("tidy", stdout=said)
    assert "Audit entries: 0 removed" in said.getvalue()
    assert AuditEntry.objects.filter(pk=entry.pk).exists()
    assert [kind.name for kind in kinds() if f"{kind.name}: " not in said.getvalue()] == []
    assert "manage.py prepare" in caplog.text


def test_a_migration_puts_the_protection_back() -> None:
    entry = entry_of(NOW)
    let_be_emptied()
    put_back()
    with pytest.raises(IntegrityError), transaction.atomic():
        entry.delete()


def _configured() -> list[AuditEntry]:
    """Without the one that the demo left when it was loaded."""
    return list(AuditEntry.objects.filter(action="configuration").order_by("pk"))[1:]


def test_what_a_command_brings_is_in_the_log(portico: None) -> None:
    loaded = AuditEntry.objects.filter(action="configuration").earliest("pk")
    assert "+ role sales-rep" in loaded.detail.splitlines()


def test_whoever_lets_callers_in_is_in_the_log_with_before_and_after(dora: Client) -> None:
    row = Endpoint.objects.get(kind="read", entity__segment="accounts", module__segment="sales")
    data = filled(page(dora, change_url(row))) | {"callers": [Role.objects.get(name="support").pk]}
    assert dora.post(change_url(row), data).status_code == 302
    (entry,) = _configured()
    version = Version.objects.latest("pk")
    assert (entry.account, entry.address) == ("designer", "127.0.0.1")
    assert entry.subject == f"version {version.pk} (Studio)"
    assert entry.detail.splitlines()[0] == "~ endpoint sales.accounts.read"
    assert 'access.roles: ["sales-manager", "sales-rep"] → ["support"]' in entry.detail


def test_an_import_and_raw_sql_are_in_the_log_too(portico: None) -> None:
    record_outside()
    document = json.loads(to_bytes(export(load())))
    document["roles"].append({"name": "auditor"})
    for entity in document["entities"]:
        if entity["segment"] == "accounts":
            entity["row_rule"] = [{"roles": ["auditor"], "all_records": True}]
    author = Author("root", Origin.COMMAND, may_change_write_access=True, may_administer=True)
    import_document(json.dumps(document).encode(), (), author)
    (imported,) = _configured()
    assert (imported.account, imported.subject.split(" (")[1]) == ("root", "Command)")
    assert "+ role auditor" in imported.detail
    assert '   row_rule: + [{"roles": ["auditor"], "all_records": true}]' in imported.detail.splitlines()
    _raw("UPDATE designer_endpoint SET authentication_required = false WHERE kind = 'delete'")
    record_outside()
    outside = _configured()[-1]
    assert (outside.account, outside.subject.split(" (")[1]) == ("", "Outside the studio)")
    assert "access.authentication_required: true → false" in outside.detail


def test_what_decides_nothing_is_the_versions_alone(dora: Client) -> None:
    module = Module.objects.get(segment="sales")
    data = filled(page(dora, change_url(module))) | {"title": "Other"}
    assert dora.post(change_url(module), data).status_code == 302
    assert _configured() == []


def test_an_issuer_is_in_the_log_without_its_keys(portico: None) -> None:
    record_outside()
    author = Author("root", may_change_write_access=True, may_administer=True)
    with recording(author):
        Issuer.objects.create(name="Zest", key_source="pem", key_pem=forge.pem(KEY), **ZEST)
    with recording(author):
        Issuer.objects.update(key_pem=forge.pem(forge.rsa_key()), roles=["support", "sales-rep"])
    added, changed = _configured()
    assert added.detail.splitlines()[0] == "+ issuer Zest"
    assert 'roles: ["support"] → ["sales-rep", "support"]' in changed.detail
    assert "keys.pem: changed" in changed.detail
    assert "BEGIN" not in added.detail + changed.detail

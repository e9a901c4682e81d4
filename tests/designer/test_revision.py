"""The configuration's revision: raised by every change, however it is made, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import F
from pytest_django import DjangoAssertNumQueries

from designer.models import (
    AuditEntry,
    Binding,
    Change,
    Endpoint,
    EndpointAccess,
    EndpointCalls,
    EndpointRole,
    EnvironmentValue,
    EnvironmentValueUse,
    ExposedEntity,
    Input,
    ItemChange,
    Module,
    PathAccess,
    Proposal,
    ProviderAccount,
    RecordedItem,
    RecordedRevision,
    RelatedColumn,
    Release,
    RevisionRow,
    Role,
    StudioRights,
    TrackedEntity,
    TriedCall,
    UserProperty,
    Version,
)
from designer.revision import read_revision
from designer.triggers import put_back
from designer.triggers.tables import KEPT_CHANGES, WATCHED
from tests.designer.rows import endpoint, role

pytestmark = pytest.mark.django_db

# What is noted about the configuration and is no part of it.
ABOUT_THE_CONFIGURATION = (
    *(RevisionRow, Change, Version, ItemChange, RecordedItem, RecordedRevision),
    *(Release, Proposal, AuditEntry, EndpointCalls, TrackedEntity, StudioRights, TriedCall),
    *(EndpointAccess, PathAccess, ProviderAccount, EnvironmentValue, EnvironmentValueUse),
)


def _noted_since(number: int) -> set[int | None]:
    return set(Change.objects.filter(number__gt=number).values_list("endpoint", flat=True))


def _raw(sql: str, *parameters: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


CHANGES: dict[str, Callable[[Endpoint], object]] = {
    "save": lambda row: row.save(),
    "save of an input": lambda row: row.inputs.get().save(),
    "update": lambda row: Endpoint.objects.filter(pk=row.pk).update(title="New"),
    "update by an expression": lambda row: row.inputs.update(position=F("position") + 1),
    "bulk create": lambda row: Input.objects.bulk_create([Input(endpoint=row, name=n) for n in "xyz"]),
    "bulk update": lambda row: Binding.objects.bulk_update(row.bindings.all(), ["value"]),
    "delete of an input": lambda row: row.inputs.all().delete(),
    "delete of a binding": lambda row: row.bindings.get().delete(),
    "create of a column": lambda row: row.columns.create(attribute="name"),
    "roles added": lambda row: row.roles.add(role()),
    "raw insert": lambda row: _raw(
        "INSERT INTO designer_binding (endpoint_id, position, attribute, source, value) "
        "VALUES (%s, 1, 'fax', 'constant', '\"1\"')",
        row.pk,
    ),
    "raw update": lambda row: _raw("UPDATE designer_endpoint SET title = 'Raw' WHERE id = %s", row.pk),
    "raw delete": lambda row: _raw("DELETE FROM designer_input WHERE endpoint_id = %s", row.pk),
    "delete": lambda row: row.delete(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_an_endpoint_raises_the_revision_and_notes_it(change: str) -> None:
    row, _ = endpoint(), endpoint("others")
    role()
    id, (before, _) = row.pk, read_revision()
    CHANGES[change](row)
    after, _ = read_revision()
    assert after.number > before.number
    assert after.token != before.token
    assert _noted_since(before.number) == {id}


SHARED: dict[str, Callable[[], object]] = {
    "module": lambda: Module.objects.update(title="Shop"),
    "entity": lambda: ExposedEntity.objects.update(entity="contact"),
    "role": lambda: Role.objects.create(name="seller"),
    "user property": lambda: UserProperty.objects.create(name="email"),
    "column": lambda: RelatedColumn.objects.create(
        user_property=UserProperty.objects.create(name="unit"), attribute="name"
    ),
}


@pytest.mark.parametrize("change", SHARED)
def test_a_change_of_what_endpoints_share_concerns_them_all(change: str) -> None:
    endpoint()
    before, _ = read_revision()
    SHARED[change]()
    assert _noted_since(before.number) == {None}


def test_a_row_that_moves_concerns_both_endpoints() -> None:
    first, second = endpoint(), endpoint("others")
    moved = first.inputs.get()
    Input.objects.filter(endpoint=second).delete()
    before, _ = read_revision()
    Input.objects.filter(pk=moved.pk).update(endpoint=second)
    assert _noted_since(before.number) == {first.pk, second.pk}


def test_removing_a_role_from_an_endpoint_is_noted() -> None:
    row = endpoint()
    row.roles.add(role())
    before, _ = read_revision()
    row.roles.clear()
    assert _noted_since(before.number) == {row.pk}


def test_a_fixture_is_noted(tmp_path: Path) -> None:
    before, _ = read_revision()
    fixture = tmp_path / "modules.json"
    fixture.write_text(json.dumps([{"model": "designer.module", "pk": 77, "fields": {"segment": "loaded"}}]))
    call_command("loaddata", str(fixture), verbosity=0)
    assert read_revision()[0].number > before.number


def test_a_change_that_is_rolled_back_leaves_no_revision() -> None:
    row = endpoint()
    before, _ = read_revision()
    with transaction.atomic():
        row.save()
        transaction.set_rollback(True)
    assert read_revision()[0] == before


def test_reading_changes_nothing() -> None:
    row = endpoint()
    before, _ = read_revision()
    list(Endpoint.objects.filter(pk=row.pk).prefetch_related("inputs", "bindings", "roles"))
    assert read_revision()[0] == before


def test_two_states_never_share_a_revision_even_where_the_number_comes_again() -> None:
    row = endpoint()
    seen = []
    for _ in range(2):
        with transaction.atomic():
            row.save()
            seen.append(read_revision()[0])
            transaction.set_rollback(True)
    first, second = seen
    assert first.number == second.number
    assert first != second


def test_a_flushed_database_has_a_revision_and_can_be_changed() -> None:
    RevisionRow.objects.all().delete()
    Change.objects.all().delete()
    assert read_revision()[0].number == 0
    endpoint()
    assert read_revision()[0].number > 0


def test_the_log_is_kept_short() -> None:
    row = endpoint()
    for _ in range(KEPT_CHANGES + 20):
        Endpoint.objects.filter(pk=row.pk).update(title="again")
    assert Change.objects.count() <= KEPT_CHANGES


def test_triggers_can_be_put_back_again_and_again() -> None:
    put_back()
    before, _ = read_revision()
    put_back()
    assert read_revision()[0].number == before.number + 1
    endpoint()
    assert read_revision()[0].number > before.number + 1


def test_every_table_of_the_configuration_is_watched() -> None:
    tables = {model._meta.db_table for model in apps.get_app_config("designer").get_models()}
    own = {model._meta.db_table for model in ABOUT_THE_CONFIGURATION}
    assert tables - own == WATCHED.keys()


def test_both_revisions_are_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        assert read_revision("'local'")[1] == "local"
    assert read_revision("'local'")[1] == "local"


def test_a_role_in_use_cannot_be_deleted() -> None:
    row = endpoint()
    row.roles.add(role())
    with pytest.raises(Exception, match="protected"):
        role().delete()
    assert EndpointRole.objects.filter(endpoint=row).exists()

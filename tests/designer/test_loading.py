"""Rows become definitions, wholly or by what changed; a bad row spoils no other."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from crmbox.platform import EmbeddedPlatform
from designer.definitions import BindingDefinition, ExposedEntityDefinition, InputDefinition
from designer.loading import latest, load, reload
from designer.models import Binding, Endpoint, ExposedEntity, Input, Module, Role, UserProperty
from designer.platform import get_platform
from designer.triggers.tables import WATCHED
from tests.designer.rows import endpoint, role
from tests.row_rules import only_rule

pytestmark = pytest.mark.django_db

RULE = '<filter><condition attribute="name" operator="not-null"/></filter>'


def test_rows_made_in_a_shell_are_loaded_as_they_are() -> None:
    row = endpoint(title="Things", enabled=False)
    row.roles.add(role("b-role"), role("a-role"))
    loaded = load().endpoints[row.pk]
    assert loaded.path == "/api/shop/things"
    assert loaded.entity == ExposedEntityDefinition(module="shop", segment="things", entity="account")
    definition = loaded.definition
    assert (definition.key, definition.title, definition.enabled) == ("shop.things.create", "Things", False)
    assert definition.access.roles == ("a-role", "b-role")
    assert definition.inputs == (InputDefinition(name="name", required=True),)
    assert definition.bindings == (BindingDefinition(attribute="name", value="name"),)


def test_inputs_come_in_their_order_and_exactly() -> None:
    row = endpoint()
    Input.objects.create(endpoint=row, name="late", position=9)
    Input.objects.create(
        endpoint=row, name="early", position=0, type="Money", default=Decimal("0.1"),
        minimum=Decimal("922337203685477.5807"), allowed=[Decimal("12.50"), 7],
    )  # fmt: skip
    name, early, late = load().endpoints[row.pk].definition.inputs
    assert (name.name, early.name, late.name) == ("name", "early", "late")
    assert early.minimum == Decimal("922337203685477.5807")
    assert early.default == Decimal("0.1")
    assert isinstance(early.default, Decimal)
    assert early.allowed == (Decimal("12.5"), 7)


def test_digits_that_json_would_lose_are_refused_not_rounded() -> None:
    with pytest.raises(ValueError, match="write it as text"):
        Input.objects.create(endpoint=endpoint(), name="x", default=Decimal("922337203685477.5807"))


@pytest.mark.parametrize("settings", ['{"unknown": 1}', "[]", '"text"', '{"filter": {"mode": "odd"}}'])
def test_a_row_that_makes_no_definition_says_why_and_keeps_its_place(settings: str) -> None:
    good, bad = endpoint(), endpoint("others", kind="local-option-set", name="colours")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE designer_endpoint SET settings = %s WHERE id = %s", [settings, bad.pk])
    loaded = load()
    assert loaded.endpoints[bad.pk].problem
    assert loaded.endpoints[bad.pk].path == "/shop/others/optionsets/colours"
    assert loaded.endpoints[good.pk].problem is None


@pytest.mark.parametrize("column", ["caller_types", "acknowledgements"])
@pytest.mark.parametrize("value", ["5", "[5]", "null", '{"a": 1}'])
def test_a_row_whose_access_makes_no_definition_affects_no_other(column: str, value: str) -> None:
    good, bad = endpoint(), endpoint("others")
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE designer_endpoint SET {column} = %s WHERE id = %s", [value, bad.pk])
    loaded = load()
    assert loaded.endpoints[bad.pk].problem
    assert loaded.endpoints[bad.pk].definition.access.authentication_required
    assert loaded.endpoints[good.pk].problem is None


def test_rows_without_a_place_of_their_own_are_named_not_lost() -> None:
    row = endpoint()
    Endpoint.objects.filter(pk=row.pk).update(kind="teleport")
    strange = UserProperty.objects.create(name="x", kind="telepathy")
    loaded = load()
    assert row.pk not in loaded.endpoints
    assert set(loaded.unreadable) == {f"endpoint {row.pk}", f"user property {strange.pk}"}


def test_a_handful_of_queries_whatever_the_number(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for at in range(5):
        endpoint(f"things-{at}")
    with django_assert_num_queries(15):
        load()


def test_a_reload_reads_only_what_changed(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    rows = [endpoint(f"things-{at}") for at in range(5)]
    before = load()
    Endpoint.objects.filter(pk=rows[2].pk).update(title="New")
    with django_assert_num_queries(9):
        after = reload(before)
    assert after.endpoints[rows[2].pk].definition.title == "New"
    assert all(after.endpoints[row.pk] is before.endpoints[row.pk] for row in rows if row is not rows[2])


def test_an_edit_moves_no_endpoint() -> None:
    rows = [endpoint(kind="local-option-set", name=name) for name in ("b", "a", "c")]
    before = load()
    assert [before.endpoints[row.pk].definition.name for row in rows] == ["b", "a", "c"]
    assert [made.definition.name for made in before.endpoints.values()] == ["a", "b", "c"]
    Endpoint.objects.filter(name="a").update(title="Edited")
    after = reload(before)
    assert list(after.endpoints) == list(before.endpoints) == list(load().endpoints)


def test_nothing_changed_is_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    endpoint()
    before = load()
    with django_assert_num_queries(1):
        assert reload(before) is before


def _create(pick: random.Random) -> None:
    endpoint(f"made-{pick.randrange(10**9)}")


def _any(pick: random.Random, model: Any) -> Any:
    return pick.choice(list(model.objects.order_by("pk")) or [None])


def _edit(pick: random.Random) -> None:
    if row := _any(pick, Endpoint):
        row.title = str(pick.random())
        row.save()


def _delete(pick: random.Random) -> None:
    if row := _any(pick, Endpoint):
        row.delete()


def _input(pick: random.Random) -> None:
    if row := _any(pick, Endpoint):
        Input.objects.create(endpoint=row, name=f"i{pick.randrange(10**9)}", position=pick.randrange(5))


def _unbind(pick: random.Random) -> None:
    if row := _any(pick, Binding):
        row.delete()


def _grant(pick: random.Random) -> None:
    if row := _any(pick, Endpoint):
        row.roles.set([role(pick.choice("abc"))])


def _break(pick: random.Random) -> None:
    if row := _any(pick, Endpoint):
        Endpoint.objects.filter(pk=row.pk).update(settings=pick.choice([{"odd": 1}, {}]))


def _unknown(pick: random.Random) -> None:
    if row := _any(pick, Endpoint):
        Endpoint.objects.filter(pk=row.pk).update(kind=pick.choice(["teleport", "create"]))


def _module(pick: random.Random) -> None:
    Module.objects.update(title=str(pick.random()))


def _rename(pick: random.Random) -> None:
    if row := _any(pick, ExposedEntity):
        ExposedEntity.objects.filter(pk=row.pk).update(segment=f"s{pick.randrange(10**9)}")


def _rename_role(pick: random.Random) -> None:
    if row := _any(pick, Role):
        Role.objects.filter(pk=row.pk).update(name=f"r{pick.randrange(10**9)}")


EDITS = (
    *(_create, _edit, _edit, _delete, _input, _unbind, _grant, _break, _unknown),
    *(_module, _rename, _rename_role),
)


@pytest.mark.parametrize("seed", range(12))
def test_reloading_step_by_step_equals_loading_all(seed: int) -> None:
    pick = random.Random(seed)
    configuration = load()
    for _ in range(25):
        for _ in range(pick.choice((1, 1, 3))):
            pick.choice(EDITS)(pick)
        configuration = reload(configuration)
        assert configuration == load()


def test_a_process_that_missed_more_than_the_log_holds_reads_everything() -> None:
    row = endpoint()
    before = load()
    for at in range(1_100):
        Endpoint.objects.filter(pk=row.pk).update(title=str(at))
    assert reload(before) == load()


def test_latest_sees_a_change_of_its_own_transaction() -> None:
    latest()
    row = endpoint()
    assert latest().endpoints[row.pk].definition.title == ""
    Endpoint.objects.filter(pk=row.pk).update(title="New")
    assert latest().endpoints[row.pk].definition.title == "New"


@pytest.mark.django_db(transaction=True)
def test_what_was_rolled_back_has_nothing_read_again() -> None:
    Module.objects.create(segment="kept")
    kept = latest()
    with suppress(RuntimeError), transaction.atomic():
        Module.objects.create(segment="gone")
        assert len(latest().modules) == len(kept.modules) + 1
        raise RuntimeError
    with transaction.atomic():
        assert latest() is kept


def test_an_input_of_another_endpoints_list_spoils_its_own_endpoint_alone() -> None:
    row, other = endpoint(), endpoint("others")
    foreign = Input.objects.create(endpoint=other, name="people", type="List")
    Input.objects.create(endpoint=row, parent=foreign, name="lost")
    loaded = load().endpoints
    assert loaded[row.pk].problem is not None
    assert loaded[other.pk].problem is None


def _renamed_role() -> None:
    Role.objects.filter(name="a-role").update(name="z-role")


def _swapped_roles() -> None:
    for old, new in (("a-role", "x"), ("b-role", "a-role"), ("x", "b-role")):
        Role.objects.filter(name=old).update(name=new)


def _renamed_module() -> None:
    Module.objects.filter(segment="shop").update(segment="store", title="Store")


def _renamed_entity() -> None:
    ExposedEntity.objects.filter(segment="things").update(segment="items")


def _described_module() -> None:
    Module.objects.filter(segment="shop").update(title="The shop")


def _described_role() -> None:
    Role.objects.filter(name="a-role").update(title="The first")


def _new_row_rule() -> None:
    only_rule(RULE, segment="things", module="shop")


def _renamed_with_an_endpoint() -> None:
    _renamed_module()
    Input.objects.filter(name="name").update(description="The name")


@pytest.mark.parametrize(
    "edit",
    [
        *(_renamed_role, _swapped_roles, _renamed_module, _renamed_entity),
        *(_described_module, _described_role, _new_row_rule),
    ],
)
def test_what_endpoints_share_is_edited_without_reading_them_again(edit: Callable[[], None]) -> None:
    row = endpoint()
    row.roles.add(role("b-role"), role("a-role"))
    alone = Endpoint.objects.create(kind="option-set", name="colours", settings={"option_set": "x"})
    before = load()
    edit()

    with CaptureQueriesContext(connection) as queries:
        after = reload(before)

    assert after == load()
    assert after.endpoints[row.pk].definition.key == load().endpoints[row.pk].definition.key
    assert after.endpoints[alone.pk] is before.endpoints[alone.pk]
    asked = " ".join(query["sql"] for query in queries.captured_queries)
    assert not [table for table, column in WATCHED.items() if column and f'"{table}"' in asked]


def test_what_endpoints_share_and_an_endpoint_are_edited_together() -> None:
    row, other = endpoint(), endpoint("others")
    Input.objects.filter(endpoint=other).delete()
    before = load()
    _renamed_with_an_endpoint()

    after = reload(before)

    assert after == load()
    assert after.endpoints[row.pk].definition.inputs[0].description == "The name"


def test_an_endpoint_that_could_not_be_read_is_read_again_when_a_name_changes() -> None:
    row = endpoint()
    before = load()
    Module.objects.filter(segment="shop").update(segment="No Segment")
    broken = reload(before)
    assert broken == load()
    Module.objects.filter(segment="No Segment").update(segment="shop")

    assert reload(broken).endpoints[row.pk].problem is None
    assert reload(broken) == load()


def test_threads_that_ask_at_once_get_one_platform(settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}.slow_platform"}
    get_platform.cache_clear()
    try:
        with ThreadPoolExecutor(4) as threads:
            platforms = [thread.result() for thread in [threads.submit(get_platform) for _ in range(4)]]
    finally:
        get_platform.cache_clear()

    assert len({id(platform) for platform in platforms}) == 1


def slow_platform() -> Any:
    time.sleep(0.2)
    return EmbeddedPlatform()

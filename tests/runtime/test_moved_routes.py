"""Where endpoints are once what they share has been renamed: at the paths that a new process would find."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from designer.endpoint_facts.following_endpoints import FollowingEndpoints
from designer.loading import load, reload
from designer.models import ExposedEntity, Module, Role
from runtime.serving.routing import Match, RoutingTable
from tests.callers import Caller

pytestmark = pytest.mark.usefixtures("portico")


def _module() -> None:
    Module.objects.filter(segment="sales").update(segment="selling")


def _swapped_modules() -> None:
    for old, new in (("sales", "x"), ("service", "sales"), ("x", "service")):
        Module.objects.filter(segment=old).update(segment=new)


def _entity() -> None:
    ExposedEntity.objects.filter(segment="accounts").update(segment="customers")


def _onto_what_was_there() -> None:
    """The path of one becomes that of another in the same moment."""
    for old, new in (("accounts", "x"), ("leads", "accounts"), ("x", "leads")):
        ExposedEntity.objects.filter(module__segment="sales", segment=old).update(segment=new)


def _role() -> None:
    Role.objects.filter(name="sales-rep").update(name="seller")


@pytest.mark.parametrize("edit", [_module, _swapped_modules, _entity, _onto_what_was_there, _role])
def test_renamed_endpoints_are_where_a_new_process_finds_them(edit: Callable[[], None]) -> None:
    before = load()
    table = RoutingTable.of(before)
    edit()

    after = reload(before)
    moved = table.changed(before, after)

    anew = RoutingTable.of(load())
    paths = {
        endpoint.path for configuration in (before, load()) for endpoint in configuration.endpoints.values()
    }
    assert isinstance(after.endpoints, FollowingEndpoints)
    assert _matches(moved, paths) == _matches(anew, paths)
    assert moved.ids() == anew.ids()


def test_what_follows_is_the_same_whenever_it_is_made() -> None:
    before = load()
    _module()
    _role()
    after = reload(before)
    assert isinstance(after.endpoints, FollowingEndpoints)
    some = list(after.endpoints)[::2]
    made = {id: after.endpoints[id] for id in some}

    after.endpoints.settle()

    assert all(after.endpoints[id] is endpoint for id, endpoint in made.items())
    assert after == load()
    # One edit after the other.
    Module.objects.filter(segment="selling").update(segment="vending")
    assert reload(after) == load()


def test_a_renamed_module_is_served_at_its_new_path_at_once(rita: Caller) -> None:
    assert rita.post("/api/sales/accounts", {"name": "Before"}).status_code == 200
    _module()

    assert rita.post("/api/selling/accounts", {"name": "After"}).status_code == 200
    assert rita.post("/api/sales/accounts", {"name": "Gone"}).status_code == 404


def _matches(table: RoutingTable, paths: set[str]) -> Mapping[str, Match | None]:
    filled = {path: path.replace("{id}", "1").replace("{relatedId}", "2") for path in paths}
    items = {f"{path}/item": f"{own}/3" for path, own in filled.items()}
    return {path: table.match(own) for path, own in {**filled, **items}.items()}

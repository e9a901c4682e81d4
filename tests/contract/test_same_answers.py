"""Every endpoint of the demo, and of every entity with all its attributes, answers the same bytes from
Dataverse as from the embedded platform. What is asked is made from the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from designer.definitions import ConfigurationDocument
from designer.documents.reading import read
from designer.kinds import KINDS
from project.demo import CONFIGURATION
from tests.contract.asked import ASKED, World, in_turn
from tests.contract.offered import ACTIVITIES, CAPPED, ENTITIES, MODULE, everything
from tests.contract.twins import Twins
from tests.contract.values import UNKNOWN, Values
from tests.dataverse.reaching import platform_at, settings_for
from tests.servers import Site, copied

pytestmark = pytest.mark.processes

DEMO = read(CONFIGURATION.read_bytes())
EVERYONE = (None, "rep", "manager", "agent", "customer", "customer2")
KEYS: list[str] = [endpoint.key for endpoint in DEMO.endpoints]
OFFERED: list[str] = [
    *(f"{MODULE}.{name}.{kind}" for name in ENTITIES for kind in ("read", "create", "update", "delete")),
    *(f"{MODULE}.{name}.{kind}" for name in ACTIVITIES for kind in ("create", "read")),
    *(f"{MODULE}.paginated-query.{name}" for name in ENTITIES),
    f"{MODULE}.team.associate.members",
    f"{MODULE}.account.upsert.number",
    f"{MODULE}.account.account-people.update",
    f"{MODULE}.account.read-by-key.number",
]


@pytest.fixture(scope="module")
def world(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("same")
    with (
        copied(_prepared, folder / "crm", "same_crm") as crm,
        copied(_prepared, folder / "here", "same_here") as here,
    ):
        server = crm.start_crm(root="/contoso")
        platform = platform_at(server)
        more = everything(platform)
        document = folder / "everything.json"
        document.write_text(more.model_dump_json(by_alias=True), encoding="utf-8")
        here.manage("importconfig", str(document))
        configuration = ConfigurationDocument(
            format=2,
            entities=DEMO.entities + more.entities,
            endpoints=DEMO.endpoints + more.endpoints,
        )
        # Before anybody uses `here`.
        with copied(here, folder / "there", "same_there") as there:
            free = {"ADDRESS_RATE": "0", "CALLER_RATE": "0", "THREADS": "4"}
            twins = Twins(here.start(**free), there.start(**settings_for(server), **free))
            yield World(twins, Values(platform), configuration)


def test_every_kind_of_operation_is_asked() -> None:
    assert set(ASKED) == set(KINDS)


@pytest.mark.parametrize("key", KEYS)
def test_everyone_gets_the_same(world: World, key: str) -> None:
    [endpoint] = [each for each in DEMO.endpoints if each.key == key]
    kind = KINDS[endpoint.kind]
    for account in EVERYONE:
        for method in {*kind.methods, "GET", "OPTIONS"}:
            body: dict[str, Any] = {"json": {}} if method in ("POST", "PATCH", "PUT") else {}
            world.twins.ask(account, method, world.path(endpoint), ids=(UNKNOWN, UNKNOWN), **body)


@pytest.mark.parametrize("key", sorted(KEYS + OFFERED, key=in_turn))
def test_an_endpoint_answers_the_same(world: World, key: str) -> None:
    [endpoint] = [each for each in world.configuration.endpoints if each.key == key]

    ASKED[endpoint.kind](world, endpoint)


@pytest.mark.parametrize("account", EVERYONE)
def test_the_context_is_the_same(world: World, account: str | None) -> None:
    world.twins.ask(account, "GET", "/api/context")


def test_a_query_over_its_cap_is_refused_alike(world: World) -> None:
    answers = world.twins.ask("rep", "GET", f"/api/{MODULE}/queries/{CAPPED['name']}")

    assert answers.status == 422


def test_a_key_that_is_taken_is_a_conflict_alike(world: World) -> None:
    [create] = [each for each in world.configuration.endpoints if each.key == f"{MODULE}.account.create"]
    [number] = [each for each in create.bindings if each.attribute == "accountnumber"]
    [name] = [each for each in create.bindings if each.attribute == "name"]
    body = {str(number.value): "A-00001", str(name.value): "Again"}

    assert world.twins.ask("rep", "POST", world.path(create), json=body).status == 409


def test_what_is_asked_meets_all_that_may_be_answered(world: World) -> None:
    """Or else some of it is asked in vain. The other tests may have been some other process's."""
    wanted = {200, 204, 206, 304, 400, 401, 403, 404, 412, 428}
    for endpoint in sorted(world.configuration.endpoints, key=lambda one: in_turn(one.key)):
        if wanted <= set(world.twins.statuses):
            break
        world.twins.ask(None, "GET", world.path(endpoint), ids=(UNKNOWN, UNKNOWN))
        world.twins.ask("agent", "GET", world.path(endpoint), ids=(UNKNOWN, UNKNOWN))
        if endpoint.name != CAPPED["name"]:
            ASKED[endpoint.kind](world, endpoint)
    assert wanted <= set(world.twins.statuses)

"""Every endpoint of the demo, and of every entity with all its attributes, answers the same bytes from
Dataverse as from the embedded platform. What is asked is made from the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from designer.definitions import ConfigurationDocument
from designer.documents.document_reader import read
from designer.kinds import KINDS
from project.demo import CONFIGURATION
from tests.contract.asked import ASKED, World, in_turn
from tests.contract.offered import ACTIVITIES, CAPPED, COMPARED, ENTITIES, MODULE, everything
from tests.contract.test_files import picture
from tests.contract.twins import Twins
from tests.contract.values import UNKNOWN, Values
from tests.dataverse.reaching import platform_at, settings_for
from tests.servers import Site, copied

pytestmark = pytest.mark.processes

DEMO = read(CONFIGURATION.read_bytes())
EVERYONE = (None, "rep", "manager", "agent", "customer", "customer2")
KEYS: list[str] = [endpoint.key for endpoint in DEMO.endpoints]
# Of what platforms take, the last, and what lies behind it.
EXTREME: tuple[dict[str, str], ...] = (
    *({"part": text} for text in ("x" * 3998, "x" * 3999, "[" * 1332, "[" * 1333, "\r\n", "a\tb")),
    {"start": "x" * 4000},
    *({"double": text} for text in ("1e-5", "-1e-300", "1e16", "1e300", "1e309")),
    *({"amount": text} for text in ("9999999999999", "10000000000000", "922337203685477")),
    {"decimal": "0.00000000001"},
    {"money": "0.00001"},
)
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


def test_values_are_compared_or_refused_alike(world: World) -> None:
    [endpoint] = [each for each in world.configuration.endpoints if each.name == COMPARED["name"]]
    for parameters in (*world.values.parameters(endpoint), *EXTREME):
        world.twins.ask("rep", "GET", world.path(endpoint), params=parameters)


@pytest.mark.parametrize("character", ["\x01", "\uffff"])
def test_a_text_that_dataverse_cannot_be_asked_for_is_the_caller_s_mistake(
    world: World, character: str
) -> None:
    [compared] = [each for each in world.configuration.endpoints if each.name == COMPARED["name"]]
    [by_key] = [
        each for each in world.configuration.endpoints if each.key == f"{MODULE}.account.read-by-key.number"
    ]
    there = world.twins.there
    headers = {"Authorization": f"Bearer {there.token('rep')}"}
    for name in ("text", "part"):
        params = {name: f"a{character}"}
        answer = there.request("GET", world.path(compared), params=params, headers=headers)
        assert answer.status_code == 400, answer.text
        assert [error["parameter"] for error in answer.json()["errors"]] == [name]
    path = world.path(by_key).replace("{value}", quote(f"a{character}"))
    assert world.twins.ask("rep", "GET", path).status == 400


def test_a_query_over_its_cap_is_refused_alike(world: World) -> None:
    answers = world.twins.ask("rep", "GET", f"/api/{MODULE}/queries/{CAPPED['name']}")

    assert answers.status == 422


def test_a_key_that_is_taken_is_a_conflict_alike(world: World) -> None:
    [create] = [each for each in world.configuration.endpoints if each.key == f"{MODULE}.account.create"]
    [number] = [each for each in create.bindings if each.attribute == "accountnumber"]
    [name] = [each for each in create.bindings if each.attribute == "name"]
    body = {str(number.value): "A-00001", str(name.value): "Again"}

    assert world.twins.ask("rep", "POST", world.path(create), json=body).status == 409


@pytest.mark.parametrize(
    ("action", "entity", "group", "lookup", "wrong", "right"),
    [
        ("win", "opportunity", "close", "opportunity", (4, 99), 3),
        ("solve", "incident", "resolution", "case", (1, 99), 5),
    ],
)
def test_a_message_that_closes_a_record_answers_the_same(
    world: World, action: str, entity: str, group: str, lookup: str, wrong: tuple[int, ...], right: int
) -> None:
    [create] = [each for each in world.configuration.endpoints if each.key == f"{MODULE}.{entity}.create"]
    ids = world.made(create)
    assert ids is not None

    def ask(status: Any, **values: Any) -> int:
        bodies = [{"status": status, group: {"subject": "Done", lookup: id, **values}} for id in ids]
        answers = world.twins.ask(
            "rep", "POST", f"/api/{MODULE}/actions/{action}", bodies=(bodies[0], bodies[1])
        )
        world.twins.ask("rep", "GET", f"/api/{MODULE}/{entity}/{{id}}", ids=ids)
        return answers.status

    assert [ask(status) for status in wrong] == [422, 422]
    assert ask(right, **{lookup: UNKNOWN}) == 404
    assert ask(right, subject="x" * 201) == 400
    assert ask("x") == 400
    assert ask(right) == 200
    assert ask(right) == 422
    assert world.twins.ask("rep", "POST", f"/api/{MODULE}/actions/{action}", json={}).status == 400


def test_a_lead_is_qualified_the_same(world: World) -> None:
    [create] = [each for each in world.configuration.endpoints if each.key == f"{MODULE}.lead.create"]
    named = {each.attribute: str(each.value) for each in create.bindings}
    values = {"subject": "Wool", "lastname": "Lead", "companyname": "Lead and Sons"}
    path = f"/api/{MODULE}/lead/{{id}}/actions/qualify"
    ask = world.twins.ask
    ids = ask("rep", "POST", world.path(create), json={named[key]: text for key, text in values.items()}).ids

    assert ask("rep", "POST", path, ids=ids, json={"sale": True}).status == 400
    assert ask("rep", "POST", path, ids=ids, json={"status": 99, "sale": True}).status == 422
    assert ask("rep", "POST", path, ids=(UNKNOWN, UNKNOWN), json={"status": 3, "sale": True}).status == 404
    made = ask("rep", "POST", path, ids=ids, json={"status": 3, "sale": True})
    assert made.status == 200, made.here.text
    assert [each["type"] for each in made.here.json()["made"]] == ["account", "contact", "opportunity"]
    assert ask("rep", "POST", path, ids=ids, json={"status": 3, "sale": True}).status == 422


def test_a_possible_duplicate_is_refused_the_same(world: World) -> None:
    ask, at = world.twins.ask, f"/api/{MODULE}"
    rule = ask("rep", "POST", f"{at}/duplicaterule", json={"name": "Same fax"}).ids
    about: tuple[Any, Any] = ({"rule": rule[0]}, {"rule": rule[1]})
    assert ask("rep", "POST", f"{at}/duplicaterulecondition", bodies=about).status == 200
    assert ask("rep", "PATCH", f"{at}/duplicaterule/{{id}}", ids=rule, json={"status": 2}).status == 204
    path = f"{at}/account-alone"
    first, second = ({"name": name, "fax": f"+49 {name}"} for name in ("First", "Second"))

    made = [ask("rep", "POST", path, json=body) for body in (first, second)]
    assert [one.status for one in made] == [200, 200]
    again = ask("rep", "POST", path, json={**first, "name": "Again"})
    assert again.status == 409, again.here.text
    alike = {**second, "fax": first["fax"]}
    assert ask("rep", "PATCH", f"{path}/{{id}}", ids=made[1].ids, json=alike).status == 409
    # Where it is not asked for, nobody looks.
    upsert = f"{at}/account/keys/number/FAX-1"
    assert ask("rep", "PUT", upsert, json={"name": "Upserted"}).status == 200
    assert ask("rep", "PATCH", f"{at}/duplicaterule/{{id}}", ids=rule, json={"status": 0}).status == 204
    assert ask("rep", "POST", path, json={**first, "name": "Again"}).status == 200


@pytest.mark.parametrize("entity", ["account", "contact"])
def test_an_image_and_its_thumbnail_are_the_same(world: World, entity: str) -> None:
    [create] = [each for each in world.configuration.endpoints if each.key == f"{MODULE}.{entity}.create"]
    ids = world.made(create)
    assert ids is not None
    ask, path = world.twins.ask, f"/api/{MODULE}/{entity}/{{id}}/files/image"
    image = ("me.png", picture(400, 300), "image/png")

    for size in ("", "?size=thumbnail", "?size=huge"):
        ask("rep", "GET", f"{path}{size}", ids=ids)
    assert ask("rep", "POST", path, ids=ids, files={"file": image}).status in (200, 204)
    for size in ("", "?size=thumbnail", "?size=huge"):
        answers = ask("rep", "GET", f"{path}{size}", ids=ids)
        assert answers.status == (400 if size == "?size=huge" else 200)
    assert ask("rep", "HEAD", f"{path}?size=thumbnail", ids=ids).status == 200
    assert ask("rep", "POST", path, ids=ids, files={"file": ("a.png", b"no image")}).status == 422
    # An image that cannot be opened has no thumbnail: where that is all that is kept, nothing is.
    broken, keeps_all = ("b.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "image/png"), entity == "account"
    assert ask("rep", "POST", path, ids=ids, files={"file": broken}).status == (200 if keeps_all else 422)
    assert ask("rep", "GET", path, ids=ids).status == 200
    assert ask("rep", "GET", f"{path}?size=thumbnail", ids=ids).status == (404 if keeps_all else 200)
    # What the bytes are counts, whatever they are called.
    photo = ("me.png", picture(400, 300, "JPEG"), "image/png")
    assert ask("rep", "POST", path, ids=ids, files={"file": photo}).status in (200, 204)
    assert ask("rep", "GET", path, ids=ids).here.headers["Content-Type"] == "image/jpeg"


def test_what_is_asked_meets_all_that_may_be_answered(world: World) -> None:
    """Or else some of it is asked in vain. The other tests may have been some other process's."""
    wanted = {200, 204, 206, 304, 400, 401, 403, 404, 412, 428}
    endpoints = {endpoint.key: endpoint for endpoint in world.configuration.endpoints}
    for key in sorted(KEYS + OFFERED, key=in_turn):
        endpoint = endpoints[key]
        if wanted <= set(world.twins.statuses):
            break
        world.twins.ask(None, "GET", world.path(endpoint), ids=(UNKNOWN, UNKNOWN))
        world.twins.ask("agent", "GET", world.path(endpoint), ids=(UNKNOWN, UNKNOWN))
        ASKED[endpoint.kind](world, endpoint)
    assert wanted <= set(world.twins.statuses)

"""What is asked of an endpoint of each kind: what is right, and all that may be wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import requests

from designer.definitions import ConfigurationDocument, EndpointDefinition
from designer.kinds import KINDS
from designer.kinds.associate import AssociateSettings
from tests.contract.twins import Answers, Pair, Twins
from tests.contract.values import UNKNOWN, Values

ACCOUNT_OF = {"sales-manager": "manager", "sales-rep": "rep", "support": "agent", "customer": "customer"}
LCIDS = ("1033", "1031", "1025", "2052", "9999", "abc", "")
# Of accounts: what may be a number, and what may not.
KEYS = ("N-1", "n-1", "N/1", "o'Neil, 100%", "x" * 21, "  ", "ünï", "a+b&c=d")
FILES = (
    ("a.pdf", b"%PDF-1.4\n" + b"x" * 1000),
    ("ünï – 名.pdf", b"%PDF-1.4\n" + bytes(range(256)) * 20_000),
    ("a.txt", b"Only text"),
    ("a.exe", b"MZ\0\0"),
    ("empty.pdf", b""),
)


@dataclass(frozen=True)
class World:
    twins: Twins
    values: Values
    configuration: ConfigurationDocument

    def entity(self, endpoint: EndpointDefinition) -> str | None:
        exposures = {(each.module, each.segment): each.entity for each in self.configuration.entities}
        return exposures.get((endpoint.module, endpoint.exposure))

    def path(self, endpoint: EndpointDefinition) -> str:
        segment = endpoint.segment or endpoint.exposure
        return KINDS[endpoint.kind].path_of(module=endpoint.module, segment=segment, name=endpoint.name)

    def records(self, endpoint: EndpointDefinition) -> list[Pair]:
        """Some that are there, none and nonsense."""
        ids = self.values.records(str(self.entity(endpoint)))
        return [(id, id) for id in (*ids[:: max(1, len(ids) // 6)][:6], UNKNOWN, "x")]

    def made(self, endpoint: EndpointDefinition) -> Pair | None:
        """A record made by the create of the same exposure, where there is one."""
        for other in self.configuration.endpoints:
            if (other.kind, other.module, other.exposure) == ("create", endpoint.module, endpoint.exposure):
                bodies = self.values.bodies(other, self.entity(other))
                next(bodies)
                answers = self.twins.ask(who(other), "POST", self.path(other), json=next(bodies))
                assert answers.status == 200, answers.here.text
                return answers.ids
        return None


def who(endpoint: EndpointDefinition) -> str | None:
    """The account that may call it."""
    if not endpoint.access.authentication_required:
        return None
    return ACCOUNT_OF[endpoint.access.roles[0]] if endpoint.access.roles else "rep"


def reads(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    for ids in world.records(endpoint):
        for lcid in LCIDS:
            answers = ask(who(endpoint), "GET", f"{path}?lcid={lcid}", ids=ids)
        ask(who(endpoint), "HEAD", path, ids=ids)
        if answers.status == 200:
            again = ask(
                who(endpoint),
                "GET",
                f"{path}?lcid=",
                ids=ids,
                tags=answers.tags,
                condition="If-None-Match",
            )
            assert again.status == 304
    ask(who(endpoint), "GET", f"{path}?colour=red", ids=ids)
    ask(who(endpoint), "PUT", path, ids=ids, json={})


def creates(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    made: list[Pair] = []
    for body in world.values.bodies(endpoint, world.entity(endpoint)):
        answers = ask(who(endpoint), "POST", path, json=body)
        made += [answers.ids] if answers.status == 200 else []
    assert len(made) >= 2
    for other in world.configuration.endpoints:
        if (other.kind, other.module, other.exposure) == ("read", endpoint.module, endpoint.exposure):
            for ids in made:
                assert ask(who(other), "GET", world.path(other), ids=ids).status in (200, 404)
    for raw in (b"{", b'{"name": NaN}', b'{"a": 1, "a": 2}', b"[]", b"\xff"):
        ask(who(endpoint), "POST", path, data=raw, headers={"Content-Type": "application/json"})
    ask(who(endpoint), "POST", path, data=b"x", headers={"Content-Type": "text/plain"})


def updates(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    pairs = world.records(endpoint)
    targets = [world.made(endpoint) or pairs[1], pairs[2]]
    for ids in targets:
        for body in world.values.bodies(endpoint, world.entity(endpoint)):
            answers = ask(who(endpoint), "PATCH", path, ids=ids, json=body)
            if answers.status == 204:
                last = answers
                assert ask(who(endpoint), "PATCH", path, ids=ids, json={}, tags=last.tags).status == 204
        stale = ('"1"', '"1"')
        ask(who(endpoint), "PATCH", path, ids=ids, json=body, tags=stale)
        ask(who(endpoint), "PATCH", path, ids=ids, json={}, tags=stale)
        ask(who(endpoint), "PATCH", path, ids=ids, json={}, tags=("*", "*"))
    for ids in pairs[-2:]:
        ask(who(endpoint), "PATCH", path, ids=ids, json={})
    if any(input.type == "List" for input in endpoint.inputs):
        _changes_lists(world, endpoint, targets[0])


def _changes_lists(world: World, endpoint: EndpointDefinition, ids: Pair) -> None:
    """Items of the list `people`, which the query of that name lists with their ids."""
    ask, path = world.twins.ask, world.path(endpoint)
    listed = f"/api/{endpoint.module}/queries/people?account={{id}}"

    def change(here: Any, there: Any) -> Answers:
        """Each is sent its own ids."""
        ways = [path.replace("{id}", id) for id in ids]
        responses = ask(who(endpoint), "PATCH", "{id}", ids=(ways[0], ways[1]), bodies=(here, there))
        ask(who(endpoint), "GET", listed, ids=ids)
        return responses

    added = {"people": {"add": [{"last": f"Person {number}"} for number in range(4)]}}
    assert change(added, added).status == 204
    answers = ask(who(endpoint), "GET", listed, ids=ids)
    person_ids = [[row["id"] for row in answer.json()] for answer in (answers.here, answers.there)]
    for say in (
        lambda own: {"change": [{"id": own[0], "mail": "a@b"}, {"id": UNKNOWN}], "remove": [UNKNOWN, own[1]]},
        lambda own: {"change": [{"id": own[0], "last": None}, {"id": own[0]}], "remove": ["x"]},
        lambda own: {"change": [{"id": own[0], "mail": "a@b"}], "remove": [own[1]], "add": [{"last": "New"}]},
        lambda own: {"remove": own[2:], "add": [{"last": "x" * 51}]},
        lambda own: {"remove": own[2:]},
    ):
        change(*({"name": "With people", "people": say(own)} for own in person_ids))


def deletes(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    made = world.made(endpoint)
    for ids in [*([made] if made else []), world.records(endpoint)[4], (UNKNOWN, UNKNOWN), ("x", "x")]:
        ask(who(endpoint), "DELETE", path, ids=ids)
        ask(who(endpoint), "DELETE", path, ids=ids, tags=('"1"', '"1"'))
        ask(who(endpoint), "DELETE", path, ids=ids, tags=("*", "*"))
        ask(who(endpoint), "DELETE", path, ids=ids, tags=("*", "*"))


def associates(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    settings = endpoint.settings
    assert isinstance(settings, AssociateSettings)
    related = world.values.records(settings.related)
    for ids in world.records(endpoint):
        for other in (*related[:2], UNKNOWN, "x"):
            here = path.replace("{relatedId}", other)
            for method in ("PUT", "PUT", "DELETE", "DELETE", "PUT"):
                ask(who(endpoint), method, here, ids=ids)
                ask(who(endpoint), "GET", f"/api/{endpoint.module}/queries/members?team={{id}}", ids=ids)
        ask(who(endpoint), "PUT", path.replace("{relatedId}", related[0]), ids=ids, json={})


def reads_by_key(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    for number in ("A-00001", "a-00001", *KEYS):
        here = path.replace("{value}", quote(number, safe=""))
        for method in ("GET", "HEAD", "PATCH"):
            ask(who(endpoint), method, here)
        ask(who(endpoint), "GET", f"{here}?lcid=1033")


def upserts(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    for number in KEYS:
        here = path.replace("{value}", quote(number, safe=""))
        ask(who(endpoint), "PUT", here, json={"name": "Never"}, tags=("*", "*"))
        ask(who(endpoint), "PUT", here, json={"name": "New"}, headers={"If-None-Match": "*"})
        ask(who(endpoint), "PUT", here, json={"name": "Twice"}, headers={"If-None-Match": "*"})
        answers = ask(who(endpoint), "PUT", here, json={"name": "Changed", "phone": None})
        if answers.status == 200:
            ask(who(endpoint), "PUT", here, json={"name": "Meant"}, tags=answers.tags)
            ask(who(endpoint), "PUT", here, json={"name": "Stale"}, tags=answers.tags)
        for body in world.values.bodies(endpoint, world.entity(endpoint)):
            ask(who(endpoint), "PUT", here, json=body)


def uploads(world: World, endpoint: EndpointDefinition) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    ids = world.made(endpoint) or world.records(endpoint)[0]
    for where in (ids, (UNKNOWN, UNKNOWN)):
        for name, content in FILES:
            ask(who(endpoint), "POST", path, ids=where, files={"file": (name, content)})
            ask(
                who(endpoint),
                "POST",
                path,
                ids=where,
                data=content,
                headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote('raw ' + name)}"},
            )
    for other in world.configuration.endpoints:
        if other.kind == "download" and world.path(other) == path:
            _fetched(world, other, ids)


def downloads(world: World, endpoint: EndpointDefinition) -> None:
    for ids in world.records(endpoint):
        _fetched(world, endpoint, ids)


def _fetched(world: World, endpoint: EndpointDefinition, ids: Pair) -> None:
    ask, path = world.twins.ask, world.path(endpoint)
    answers = ask(who(endpoint), "GET", path, ids=ids, ordered=False)
    ranges = ("bytes=0-9", "bytes=-5", "bytes=4194300-4194309", "bytes=99999999-", "bytes=0-1,3-4")
    listed = answers.status == 200 and "attachment" not in answers.here.headers.get("Content-Disposition", "")
    items: list[Pair] = [("", "")]
    if listed:
        both = zip(by_name(answers.here), by_name(answers.there), strict=True)
        items = [(one["id"], other["id"]) for one, other in both]
    for item in items:
        full = [
            path.replace("{id}", id) + (f"/{own}" if own else "") for id, own in zip(ids, item, strict=True)
        ]
        for span in ranges:
            way = (full[0], full[1])
            ask(who(endpoint), "GET", "{id}", ids=way, headers={"Range": span}, ordered=False)
    ask(who(endpoint), "GET", f"{path}/{UNKNOWN}", ids=ids)


def by_name(answer: requests.Response) -> list[dict[str, Any]]:
    return sorted(answer.json(), key=lambda file: (file["fileName"], file["size"]))


def actions(world: World, endpoint: EndpointDefinition) -> None:
    ask, path, entity = world.twins.ask, world.path(endpoint), world.entity(endpoint)
    on_record = KINDS[endpoint.kind].is_on_record
    for ids in world.records(endpoint)[-3:] if on_record else [("", "")]:
        for body in world.values.bodies(endpoint, entity):
            ask(who(endpoint), "POST", path, ids=ids, json=body)
    for id in world.values.records(str(entity)) if on_record else ():
        ask(who(endpoint), "POST", path, ids=(id, id), json=list(world.values.bodies(endpoint, entity))[2])


def queries(world: World, endpoint: EndpointDefinition) -> None:
    for parameters in world.values.parameters(endpoint):
        world.twins.ask(who(endpoint), "GET", world.path(endpoint), params=parameters)


def pages(world: World, endpoint: EndpointDefinition) -> None:
    queries(world, endpoint)
    path = world.path(endpoint)
    offered = [order.name for order in getattr(endpoint.settings, "orders", ())]
    size = min(40, getattr(endpoint.settings, "page_size", 40))
    for order in ("", *(f"&order={sign}{name}" for name in offered for sign in ("", "-"))):
        seen = list(world.twins.pages(who(endpoint), f"{path}?pageSize={size}{order}"))
        total = sum(answers.here.json()["count"] for answers in seen)
        assert total == (seen[0].here.json()["totalRecordCount"] or total)
        assert len(seen) > 1
    for wrong in ("pageSize=0", "pageSize=x", "cursor=x", "order=nope", "pageSize=5001"):
        world.twins.ask(who(endpoint), "GET", f"{path}?{wrong}")


def option_sets(world: World, endpoint: EndpointDefinition) -> None:
    for query in (*(f"lcid={lcid}" for lcid in LCIDS), "", "lcid=1033&lcid=1031", "colour=red"):
        world.twins.ask(who(endpoint), "GET", f"{world.path(endpoint)}?{query}")


# What only reads comes first, so that it finds the demo as it was on both sides.
ASKED: dict[str, Callable[[World, EndpointDefinition], None]] = {
    "read": reads,
    "read-by-key": reads_by_key,
    "download": downloads,
    "single-query": queries,
    "multi-query": queries,
    "paginated-query": pages,
    "option-set": option_sets,
    "local-option-set": option_sets,
    "create": creates,
    "update": updates,
    "upsert": upserts,
    "upload": uploads,
    "action": actions,
    "global-action": actions,
    "associate": associates,
    "delete": deletes,
}


def in_turn(key: object) -> int:
    return next(at for at, kind in enumerate(ASKED) if kind in str(key).split("."))

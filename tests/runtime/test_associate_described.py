"""What is said of an association to those who would call it."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from designer.models import Column, Endpoint, ExposedEntity, Module
from tests.callers import Caller
from tests.runtime.associations import MEMBERS, associations

PATH = "/api/sales/teams/{id}/members/{relatedId}"


def document(caller: Caller) -> dict[str, Any]:
    answer = caller.get("/api/openapi.json")
    assert answer.status_code == 200
    whole: dict[str, Any] = answer.json()
    return whole


def entity(caller: Caller) -> dict[str, Any]:
    answer = caller.get("/api/schema/entities/sales.teams")
    assert answer.status_code == 200, answer.content
    description: dict[str, Any] = answer.json()
    return description


def test_each_call_is_described_as_what_it_does(portico: None, rita: Caller) -> None:
    associations()
    described = document(rita)["paths"][PATH]
    assert described.keys() == {"put", "delete"}
    told = {
        method: (one["operationId"], one["summary"], one["responses"]["204"]["description"])
        for method, one in described.items()
    }
    assert told == {
        "put": ("associate.sales.teams.members", "Associate", "The two records are associated."),
        "delete": (
            "associate.sales.teams.members.delete",
            "Disassociate",
            "The two records are not associated.",
        ),
    }
    for one in described.values():
        assert "requestBody" not in one
        assert [each["name"] for each in one["parameters"]] == ["id", "relatedId"]
        assert {"204", "400", "401", "403", "404"} <= set(one["responses"])


def test_a_title_and_a_description_stand_for_both(portico: None, rita: Caller) -> None:
    row = associations()
    Endpoint.objects.filter(pk=row.pk).update(title="Members", description="Who is in a team.")
    for one in document(rita)["paths"][PATH].values():
        assert (one["summary"], one["description"]) == ("Members", "Who is in a team.")


@pytest.mark.parametrize(
    ("calls", "method", "id"),
    [
        ("associate", "put", "associate.sales.teams.members"),
        ("disassociate", "delete", "associate.sales.teams.members.delete"),
    ],
)
def test_what_is_not_allowed_is_not_described(
    portico: None, rita: Caller, calls: str, method: str, id: str
) -> None:
    associations(calls=calls)
    described = document(rita)["paths"][PATH]
    # The same name as where both are allowed: generated clients call it by that.
    assert {name: one["operationId"] for name, one in described.items()} == {method: id}


def test_the_schema_says_which_records_are_related_and_where_they_are_listed(
    portico: None, rita: Caller
) -> None:
    row = associations()
    listed = Endpoint.objects.create(
        kind="multi-query",
        module=row.module,
        name="people",
        settings={
            "query": '<fetch><entity name="systemuser"><attribute name="systemuserid"/>'
            '<attribute name="fullname"/></entity></fetch>'
        },
    )
    for attribute, name in (("systemuserid", "id"), ("fullname", "name")):
        Column.objects.create(endpoint=listed, attribute=attribute, name=name)
    shown = entity(rita)
    call = shown["operations"]["associate.members"]
    assert (call["method"], call["methods"], call["path"]) == ("PUT", ["PUT", "DELETE"], PATH)
    assert call["related"] == {
        "entity": "systemuser",
        "candidates": [
            {
                "entity": "systemuser",
                "url": "/api/sales/queries/people",
                "id": "id",
                "name": "name",
                "parameters": [],
            }
        ],
    }
    published = rita.get("/api/schema/format").json()
    jsonschema.validate(shown, {**published, "$ref": "#/$defs/Entity"})


def test_it_has_a_form_without_fields(portico: None, rita: Caller) -> None:
    associations()
    form = rita.get("/api/schema/entities/sales.teams?form=associate.members").json()
    assert (form["method"], form["path"], form["order"]) == ("PUT", PATH, [])


def test_a_relationship_that_is_gone_takes_only_its_own_endpoint_from_the_document(
    portico: None, rita: Caller
) -> None:
    associations(relationship=f"{MEMBERS}_2")
    paths = document(rita)["paths"]
    assert PATH not in paths
    assert "/api/sales/accounts/{id}" in paths


def test_it_is_described_anew_when_the_related_entity_is_exposed_at_last(portico: None, rita: Caller) -> None:
    associations(related="later")
    assert PATH not in document(rita)["paths"]
    sales = Module.objects.get(segment="sales")
    ExposedEntity.objects.create(module=sales, segment="later", entity="systemuser")
    assert PATH in document(rita)["paths"]

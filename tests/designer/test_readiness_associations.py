"""Readiness of associations: the relationship, and the exposed entity of the related records."""

from __future__ import annotations

from typing import Any

import pytest

from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition, ExposedEntityDefinition
from designer.readiness import Finding, check
from tests.designer.judged import EXPOSED, configured, metadata

UNITS = ExposedEntityDefinition(module="shop", segment="units", entity="unit")
MORE_THINGS = ExposedEntityDefinition(module="shop", segment="more", entity="thing")
READ_UNITS = Endpoint(
    EndpointDefinition.model_validate(
        {"kind": "read", "module": "shop", "exposure": "units", "columns": [{"attribute": "name"}]}
    ),
    UNITS,
)


def association(*exposures: ExposedEntityDefinition, name: str = "units", **settings: Any) -> Endpoint:
    given = {"relationship": "thing_units", "related": "units", **settings}
    data = {"kind": "associate", "module": "shop", "exposure": "things", "name": name, "settings": given}
    return Endpoint(EndpointDefinition.model_validate(data), EXPOSED, exposures=(EXPOSED, *exposures))


def findings(endpoint: Endpoint, *others: Endpoint) -> list[Finding]:
    """Those of the endpoint that concern its settings or its place."""
    all_findings = check(endpoint, configured(endpoint, *others), metadata())
    return [
        each
        for each in all_findings
        if each.field.startswith("settings.") or each.field in ("name", "segment")
    ]


def test_what_is_whole_has_none() -> None:
    assert findings(association(UNITS), READ_UNITS) == []
    with_itself = association(MORE_THINGS, relationship="thing_things", related="more")
    assert [each.rule for each in findings(with_itself)] == ["related-unread"]


@pytest.mark.parametrize(
    ("endpoint", "rule", "field"),
    [
        (association(UNITS, relationship=""), "relationship-unknown", "relationship"),
        (association(UNITS, relationship="gone"), "relationship-unknown", "relationship"),
        (association(UNITS, relationship="unit_users"), "relationship-not-many-to-many", "relationship"),
        (association(UNITS, relationship="unit_teams"), "relationship-not-many-to-many", "relationship"),
        (association(), "related-entity", "related"),
        (association(UNITS, related=""), "related-entity", "related"),
        (association(UNITS, related="gone"), "related-entity", "related"),
        (association(UNITS, MORE_THINGS, related="more"), "related-entity", "related"),
    ],
)
def test_what_cannot_be_served_is_found_at_its_field(endpoint: Endpoint, rule: str, field: str) -> None:
    [finding] = findings(endpoint, READ_UNITS)
    assert (finding.rule, finding.field, finding.is_blocking) == (rule, f"settings.{field}", True)


def test_related_records_that_nobody_can_find_are_told_of() -> None:
    [finding] = findings(association(UNITS))
    assert (finding.rule, finding.field, finding.is_blocking) == ("related-unread", "settings.related", False)


@pytest.mark.parametrize("name", ["files", "actions", "queries", "Units", ""])
def test_a_name_that_cannot_stand_in_the_path_is_found(name: str) -> None:
    [finding] = findings(association(UNITS, name=name), READ_UNITS)
    assert (finding.rule, finding.field) == ("path-segment", "name")


def test_only_calls_at_one_path_get_in_each_others_way() -> None:
    tying, untying = association(UNITS, calls="associate"), association(UNITS, calls="disassociate")
    assert findings(tying, READ_UNITS, untying) == []
    [finding] = findings(tying, READ_UNITS, association(UNITS))
    assert finding.rule == "path-taken"
    assert finding.message.startswith("PUT /api/shop/things/{id}/units/{relatedId} ")

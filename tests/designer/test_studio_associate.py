"""Associations in the studio: made by clicking, judged at their fields, tried, and put away whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from designer.loading import latest
from designer.models import Endpoint, ExposedEntity, Module
from designer.overview import Overview, overview, overview_if_stored
from designer.platform import get_platform
from designer.readiness.metadata import Metadata
from designer.studio.metadata.choices import relationships
from tests.callers import Caller
from tests.designer.studio import blocking, change_url, errors, filled, page, send
from tests.designer.test_studio_operations import _added, _offered
from tests.designer.test_studio_transfer import _exported, _import
from tests.designer.test_studio_try import _form, _try
from tests.runtime.associations import MAX, MEMBERS, RITA, a_team, associations, members, only, path


@pytest.fixture
def teams(portico: None) -> ExposedEntity:
    """Teams, exposed along with the users that may be their members."""
    sales = Module.objects.get(segment="sales")
    ExposedEntity.objects.create(module=sales, segment="people", entity="systemuser")
    made: ExposedEntity = ExposedEntity.objects.create(module=sales, segment="teams", entity="team")
    return made


def test_an_association_is_made_by_choosing(dora: Client, rita: Caller, teams: ExposedEntity) -> None:
    row = _added(dora, kind="associate", entity=teams.pk, name="members", title="Members of a team")
    opened = page(dora, change_url(row))
    assert _offered(opened, "settings__relationship") == {MEMBERS}
    assert _offered(opened, "settings__related") == {"people"}
    assert _offered(opened, "settings__calls") == {"both", "associate", "disassociate"}
    chosen = {
        "settings__relationship": MEMBERS,
        "settings__related": "people",
        "settings__calls": "associate",
    }
    saved = send(dora, change_url(row), filled(opened) | chosen | {"enabled": "on"})
    assert saved.status_code == 302, errors(saved)
    team = a_team()
    assert rita.request("PUT", path(team, RITA)).status_code == 204
    assert rita.request("DELETE", path(team, RITA)).status_code == 405
    assert members(team) == [RITA]
    shown = page(dora, change_url(row)).content.decode().replace("<wbr>", "")
    assert "PUT /api/sales/teams/{id}/members/{relatedId}" in shown


def test_a_relationship_has_the_same_label_wherever_it_is_chosen(dora: Client, teams: ExposedEntity) -> None:
    row = _added(dora, kind="associate", entity=teams.pk, name="members", title="Members of a team")
    field = page(dora, change_url(row)).context["adminform"].form.fields["settings__relationship"]
    labels = dict(relationships(Metadata(get_platform()), "team"))
    assert dict(field.choices)[MEMBERS] == labels[MEMBERS]


def test_what_is_missing_stands_at_its_field_with_what_would_mend_it(
    dora: Client, teams: ExposedEntity
) -> None:
    row = _added(dora, kind="associate", entity=teams.pk, name="members", title="Members of a team")
    for field, value in (("relationship", MEMBERS), ("related", "people")):
        opened = page(dora, change_url(row))
        refused = send(dora, change_url(row), filled(opened) | {"enabled": "on"})
        [(place, _)] = blocking(refused)
        assert place == f"settings__{field}"
        assert f"Choose {value}" in refused.content.decode()
        data = filled(opened) | {f"settings__{field}": value}
        assert send(dora, change_url(row), data).status_code == 302


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("files", "“files”"),
        ("actions", "“actions”"),
        ("Members", "Use lower-case letters, digits and hyphens"),
    ],
)
def test_a_name_that_another_path_needs_is_refused(
    dora: Client, teams: ExposedEntity, name: str, words: str
) -> None:
    row = associations()
    data = filled(page(dora, change_url(row))) | {"name": name}
    [message] = errors(send(dora, change_url(row), data))
    assert words in message
    row.refresh_from_db()
    assert row.name == "members"


def test_the_first_of_two_at_one_path_is_served_and_the_second_is_told(
    dora: Client, teams: ExposedEntity
) -> None:
    associations()
    other = ExposedEntity.objects.create(module=teams.module, segment="groups", entity="team")
    row = Endpoint.objects.create(
        kind="associate",
        entity=other,
        segment="teams",
        name="members",
        enabled=False,
        settings={"relationship": MEMBERS, "related": "people", "calls": "disassociate"},
    )
    refused = send(dora, change_url(row), filled(page(dora, change_url(row))) | {"enabled": "on"})
    assert [message for _, message in blocking(refused)] == [
        "DELETE /api/sales/teams/{id}/members/{relatedId} is the path of "
        "sales.teams.associate.members already."
    ]


def test_each_call_is_tried(dora: Client, portico: None) -> None:
    row, team = associations(), a_team()
    fields = page(dora, reverse("admin:designer_endpoint_try", args=[row.pk])).context["form"].fields
    assert fields["method"].choices == [("PUT", "PUT: Associate"), ("DELETE", "DELETE: Disassociate")]
    for method, member in (("PUT", "associate"), ("DELETE", "disassociate")):
        answer = _try(dora, row, method=method, record=team, related=RITA)
        calls = answer.context["outcome"].calls
        assert [(call.operation, call.sent) for call in calls] == [(member, False)]
        assert calls[0].request.splitlines() == ["team", team, MEMBERS, RITA]
    assert members(team) == []


def test_a_try_says_that_a_related_record_is_out_of_reach(dora: Client, portico: None) -> None:
    row, team = associations(), a_team()
    only("people", f'attribute="systemuserid" operator="eq" value="{RITA}"')
    outcome = _try(dora, row, method="PUT", record=team, related=MAX).context["outcome"]
    assert outcome.status == 404
    assert [call.operation for call in outcome.calls] == ["query"]


def test_a_try_for_real_ties_the_records(dora: Client, portico: None) -> None:
    dora_herself = User.objects.get(username="designer")
    dora_herself.user_permissions.add(Permission.objects.get(codename="call_for_real"))
    row, team = associations(), a_team()
    for method, expected in (("PUT", [RITA]), ("DELETE", [])):
        form = _form(dora, row, mode="real", method=method, record=team, related=RITA)
        answer = dora.post(reverse("admin:designer_endpoint_try", args=[row.pk]), form, follow=True)
        assert answer.context["outcome"].status == 204
        assert members(team) == expected


def test_the_preview_shows_how_it_is_called(dora: Client, portico: None) -> None:
    text = page(dora, change_url(associations(calls="disassociate"))).content.decode()
    assert "curl -i -X DELETE" in text
    assert "/api/sales/teams/$ID/members/$RELATED_ID" in text


def test_the_matrix_and_the_list_name_the_calls_that_are_allowed(dora: Client, portico: None) -> None:
    associations(calls="associate")
    for url in (reverse("studio:matrix"), reverse("admin:designer_endpoint_changelist")):
        text = page(dora, url).content.decode().replace("<wbr>", "")
        assert "PUT /api/sales/teams/{id}/members/{relatedId}" in text
        assert "DELETE /api/sales/teams/" not in text


def test_it_is_exported_and_imported_whole(dora: Client, rita: Caller) -> None:
    associations(calls="associate")
    document: dict[str, Any] = _exported(dora)
    [item] = [each for each in document["endpoints"] if each["kind"] == "associate"]
    assert item["settings"] == {"relationship": MEMBERS, "related": "people", "calls": "associate"}
    item["settings"]["calls"] = "disassociate"
    assert _import(dora, document).status_code == 302
    team = a_team()
    assert rita.request("DELETE", path(team, RITA)).status_code == 204
    assert rita.request("PUT", path(team, RITA)).status_code == 405


def _warned(row: Endpoint, seen: Overview) -> bool:
    return any(finding.rule == "related-unread" for finding in seen.by_endpoint[row.pk])


def test_a_warning_goes_with_its_reason(portico: None) -> None:
    row = associations()
    listing = Endpoint.objects.create(
        kind="multi-query",
        module=row.module,
        name="people",
        settings={"query": '<fetch><entity name="systemuser"><attribute name="fullname"/></entity></fetch>'},
    )
    listed = {listing.pk: latest().endpoints[listing.pk]}
    listing.delete()
    seen = overview()
    assert _warned(row, seen)
    # The association itself is the same as before, and need not be read again.
    endpoints = seen.configuration.endpoints
    assert not _warned(
        row, overview_if_stored(replace(seen.configuration, endpoints={**endpoints, **listed}))
    )


def test_a_related_entity_in_use_is_neither_deleted_nor_renamed(dora: Client, portico: None) -> None:
    row = associations()
    people = ExposedEntity.objects.get(segment="people")
    deleting = reverse("admin:designer_exposedentity_delete", args=[people.pk])
    assert change_url(row) in page(dora, deleting).content.decode()
    dora.post(deleting, {"post": "yes"})
    assert people in ExposedEntity.objects.all()
    renamed = send(dora, change_url(people), filled(page(dora, change_url(people))) | {"segment": "users"})
    assert any("exposes no entity as “people”" in message for message in errors(renamed))
    people.refresh_from_db()
    assert people.segment == "people"

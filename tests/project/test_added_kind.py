"""A built-in kind needs its descriptor and its operation alone: *Clone record*, for these tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pydantic import Field, create_model

from crmclient import Platform
from crmclient.optional_abilities import AccessRight
from crmclient.query.other_attributes import AttributeChange, ChangedKeys
from designer.configuration import Endpoint as Configured
from designer.documents.document_writer import export
from designer.endpoint_facts.needed_rights import NeededRight, needed_rights
from designer.kinds import KINDS, OperationKind, Scope, Section
from designer.kinds.operation_kind import STEPS
from designer.kinds.pickers import Picker, PickerPlace
from designer.kinds.settings import EndpointSettings
from designer.loading import latest, load
from designer.models import Endpoint
from designer.platform import get_platform
from designer.readiness import Checker, Metadata
from designer.studio.endpoint_form.settings_fields import refuse_unknown_settings
from designer.uses.attribute_changes import changed_document
from designer.uses.attribute_uses import attribute_index
from project import extensions
from runtime.http.rendering import json_response
from runtime.operations import Description, Operation
from runtime.request_context import Exchange
from runtime.steps import Steps
from tests.added_kinds import accounts, built_in, created, endpoint_of
from tests.callers import Caller
from tests.designer.studio import add_url, change_url, errors, filled, page, send
from tests.row_rules import ruled

NAME = "clone"
ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


def _copied(place: PickerPlace) -> Iterator[tuple[str, str]]:
    for name, attribute in place.metadata.attributes(place.entity).items():
        if attribute.creatable and attribute.readable:
            yield name, name


class CloneSettings(EndpointSettings):
    """`copied` are the attributes whose values the new record has, too."""

    creates_records: ClassVar[bool] = True

    copied: Annotated[tuple[str, ...], Picker(_copied)] = Field((), title="Copied attributes")

    @property
    def own_attributes(self) -> tuple[str, ...]:
        return self.copied

    @property
    def set_without_binding(self) -> frozenset[str]:
        return frozenset(self.copied)

    def with_attribute(self, entity: str, change: AttributeChange) -> tuple[EndpointSettings, ChangedKeys]:
        copied = tuple(change.name(entity, name) for name in self.copied)
        return self.model_copy(update={"copied": copied}), {}


CLONE = OperationKind(
    name=NAME,
    label="Clone record",
    summary="Creates a record with the values of another one.",
    scope=Scope.ENTITY,
    methods=("POST",),
    path="/api/{module}/{segment}/{id}/clone",
    settings=CloneSettings,
    sections=STEPS,
)


class CloneOperation(Operation):
    kind: ClassVar[str] = NAME

    def __init__(self, endpoint: Configured, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.copied = self.settings(CloneSettings).copied
        self.steps = Steps(endpoint, platform, reads=self.copied)

    def run(self, exchange: Exchange) -> HttpResponse:
        record = self.steps.read(exchange)
        values = {name: record.values[name] for name in self.copied}
        id = self.platform.create(self.require_entity(), values, id=exchange.chosen_id, call=exchange.call).id
        path = exchange.record_path(id)
        return json_response({"id": id}, status=201, headers={"Location": path} if path else None)

    def describe(self) -> Description:
        return Description(success=(201, ID, "The record was cloned."), problems=self.steps.problems({}))


@pytest.fixture
def kind(portico: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with built_in(CLONE, CloneOperation, monkeypatch):
        yield


@pytest.fixture
def clone(kind: None) -> Endpoint:
    return endpoint_of(CLONE, settings={"copied": ["name", "telephone1"]})


def original_of(caller: Caller) -> str:
    return created(caller, name="Original", phone="+49 30 1234")


def copied_field(client: Client, row: Endpoint) -> Any:
    return page(client, change_url(row)).context["adminform"].form["settings__copied"]


def test_an_answer_says_where_the_new_record_is_read(rita: Caller, clone: Endpoint) -> None:
    original = original_of(rita)
    answer = rita.post(f"/api/sales/accounts/{original}/clone", {})
    assert answer.status_code == 201, answer.content
    id = answer.json()["id"]
    assert id != original
    assert answer["Location"].endswith(f"/api/sales/accounts/{id}")
    assert rita.get(f"/api/sales/accounts/{id}").json()["name"] == "Original"


def test_dora_picks_several_values_of_a_setting(kind: None, dora: Client, rita: Caller) -> None:
    opened = page(dora, f"{add_url('endpoint')}?entity={accounts().pk}")
    data = filled(opened) | {"kind": NAME, "clone__copied": ["name"]}
    added = send(dora, add_url("endpoint"), data)
    assert added.status_code == 302, errors(added)
    row = Endpoint.objects.get(kind=NAME)
    assert row.settings == {"copied": ["name"]}
    data = filled(page(dora, change_url(row))) | {"enabled": "on"}
    assert data["settings__copied"] == ["name"]
    refused = send(dora, change_url(row), {**data, "settings__copied": ["name", "nothing"]})
    assert any("nothing is not one of" in message for message in errors(refused))
    saved = send(dora, change_url(row), {**data, "settings__copied": ["name", "telephone1"]})
    assert saved.status_code == 302, errors(saved)
    row.refresh_from_db()
    assert row.settings == {"copied": ["name", "telephone1"]}
    assert rita.post(f"/api/sales/accounts/{original_of(rita)}/clone", {}).status_code == 201


def test_several_values_name_no_endpoint(kind: None, dora: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    named = replace(CLONE, path="/api/{module}/{segment}/{id}/clones/{name}")
    monkeypatch.setitem(KINDS, NAME, named)
    address = f"{add_url('endpoint')}?entity={accounts().pk}"
    data = filled(page(dora, address)) | {"kind": NAME, "clone__copied": ["name"]}
    assert errors(send(dora, address, data)) == ["The path ends in a name. Enter a name."]


def test_what_the_platform_no_longer_knows_stays_picked(dora: Client, clone: Endpoint) -> None:
    clone.settings = {"copied": ["gone", "name"]}
    clone.save()
    field = copied_field(dora, clone)
    assert ("gone", "gone (not known to the platform)") in field.field.choices
    assert field.value() == ["gone", "name"]


def test_attributes_that_its_setting_names_are_found_and_replaced(clone: Endpoint) -> None:
    uses = attribute_index(latest(), "systemuser")[("account", "telephone1")]
    key = latest().endpoints[clone.pk].definition.key
    assert ("endpoints", key) in {use.used_by for use in uses}
    change = AttributeChange("account", "telephone1", "fax")
    changed = changed_document(export(latest()), change, "systemuser")
    settings = {endpoint.key: endpoint.settings for endpoint in changed.endpoints}[key]
    assert settings.own_attributes == ("name", "fax")


def findings_of(row: Endpoint) -> list[tuple[str, str]]:
    judged = Checker(load(), Metadata(get_platform())).endpoint(row.pk)
    return [(finding.rule, str(finding.message)) for finding in judged if finding.is_blocking]


def test_a_row_rule_may_look_at_what_it_copies(rita: Caller, clone: Endpoint) -> None:
    original = original_of(rita)
    ruled(accounts(), '<filter><condition attribute="telephone1" operator="not-null"/></filter>')
    assert findings_of(clone) == []
    clone.settings = {"copied": ["name"]}
    clone.save()
    ((rule, said),) = findings_of(clone)
    assert rule == "create-never-inside"
    # The kind has no setting that lifts the rule.
    assert said.endswith("nothing sets. Bind “telephone1”, or change the rule.")
    assert rita.post(f"/api/sales/accounts/{original}/clone", {}).status_code == 201


def test_what_it_copies_need_not_be_bound(portico: None, monkeypatch: pytest.MonkeyPatch) -> None:
    binding = replace(CLONE, sections=STEPS | {Section.INPUTS, Section.BINDINGS}, binds_all_required=True)
    with built_in(binding, CloneOperation, monkeypatch):
        row = endpoint_of(binding, settings={"copied": ["name"]})
        assert findings_of(row) == []
        row.settings = {"copied": []}
        row.save()
        assert [rule for rule, _said in findings_of(row)] == ["required-attribute-unbound"]


def test_its_bindings_set_what_only_a_new_record_takes(
    portico: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    binding = replace(CLONE, sections=STEPS | {Section.INPUTS, Section.BINDINGS})
    with built_in(binding, CloneOperation, monkeypatch):
        row = endpoint_of(binding, settings={"copied": ["name"]})
        row.bindings.create(attribute="overriddencreatedon", source="constant", value="2026-01-31T12:00:00Z")
        assert findings_of(row) == []


def test_copying_a_lookup_needs_the_rights_of_setting_it(clone: Endpoint) -> None:
    clone.settings = {"copied": ["name", "primarycontactid"]}
    clone.save()
    needed = set(needed_rights(latest().endpoints[clone.pk], Metadata(get_platform()), ""))
    assert {
        NeededRight("account", AccessRight.CREATE),
        NeededRight("account", AccessRight.APPEND),
        NeededRight("contact", AccessRight.APPEND_TO),
    } <= needed


def test_a_dry_run_of_it_writes_nothing(dora: Client, rita: Caller, clone: Endpoint) -> None:
    url = reverse("admin:designer_endpoint_try", args=[clone.pk])
    form = {"caller": "token", "roles": ["sales-rep"], "user": "", "mode": "dry"}
    form |= {"_call": page(dora, url).context["token"], "record": original_of(rita)}
    outcome = dora.post(url, form, follow=True).context["outcome"]
    assert [(call.operation, call.sent) for call in outcome.calls] == [("retrieve", True), ("create", False)]


@pytest.mark.parametrize("annotation", [int, tuple[int, ...], bool])
def test_a_setting_that_no_value_can_be_picked_for_is_refused(annotation: Any) -> None:
    number: Any = (Annotated[annotation, Picker(_copied)], 0)
    settings = create_model("Settings", __base__=EndpointSettings, number=number)
    with pytest.raises(ValueError, match="number: a picker offers texts"):
        refuse_unknown_settings(settings)


def test_a_built_in_kind_that_the_api_has_no_place_for_is_told_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(
        KINDS, NAME, OperationKind(NAME, "Clone", "", Scope.ENTITY, ("POST",), "/api/{thing}")
    )
    extensions.load.cache_clear()
    try:
        (problem,) = extensions.load()
    finally:
        extensions.load.cache_clear()
    assert problem.text == (
        "The built-in “clone” of portico.kinds cannot be used: its path /api/{thing} has a placeholder that "
        "there is not: 'thing'."
    )

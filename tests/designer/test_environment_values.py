"""Values that a document names and each environment supplies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from designer.documents.yaml_text import from_yaml
from designer.models import Binding, EnvironmentValue, ExposedEntity, RowRuleEntry, Version
from project.demo import CONFIGURATION
from tests.designer.commands import refused, run
from tests.designer.proposing import save

pytestmark = pytest.mark.django_db

TEAM = "0c2f8a3e-5f0a-4d8c-9d53-3a1f3c8a2b10"
OTHER = "7b1f64c2-0a0e-4f57-8a53-1f7f0f6f2f11"
FILTER = (
    '<filter type="and">\n  <condition attribute="ownerid" operator="eq" value="{env:PORTAL_TEAM_ID}"/>\n'
    "</filter>\n"
)

Change = Callable[[dict[str, Any]], None]


def bind(document: dict[str, Any], value: Any) -> None:
    """A constant of the endpoint that creates leads."""
    created = next(
        item for item in document["endpoints"] if item["kind"] == "create" and item["exposure"] == "leads"
    )
    created["bindings"].append({"attribute": "websiteurl", "source": "constant", "value": value})


def with_rule(document: dict[str, Any]) -> None:
    entity = next(item for item in document["entities"] if item["segment"] == "leads")
    entity["row_rule"] = [{"filter": FILTER}]


def with_names(document: dict[str, Any]) -> None:
    bind(document, {"env": "PORTAL_NAME", "type": "String"})
    with_rule(document)


def written(tmp_path: Path, change: Change) -> Path:
    document = json.loads(CONFIGURATION.read_bytes())
    change(document)
    file = tmp_path / "named.json"
    file.write_text(json.dumps(document, indent=2))
    return file


def constant() -> Any:
    return Binding.objects.get(endpoint__kind="create", attribute="websiteurl").value


def rule() -> str:
    return RowRuleEntry.objects.get(exposed__module__segment="sales", exposed__segment="leads").filter


@pytest.fixture
def named(portico: None, tmp_path: Path) -> Path:
    return written(tmp_path, with_names)


@pytest.fixture
def values(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("PORTICO_VALUE_PORTAL_NAME", "Contoso <& Sons>")
    monkeypatch.setenv("PORTICO_VALUE_PORTAL_TEAM_ID", TEAM)
    return monkeypatch


def test_each_environment_has_its_own_value_and_exports_the_name(
    named: Path, values: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "Imported." in run("importconfig", named)
    assert constant() == "Contoso <& Sons>"
    assert TEAM in rule()

    exported = run("exportconfig")
    assert TEAM not in exported
    assert json.loads(exported) == json.loads(named.read_bytes())
    assert run("importconfig", named).endswith("Nothing to change.\n")

    # Another environment.
    values.setenv("PORTICO_VALUE_PORTAL_TEAM_ID", OTHER)
    again = tmp_path / "again.json"
    again.write_text(exported)
    assert "Imported." in run("importconfig", again)
    assert OTHER in rule()
    assert run("exportconfig") == exported


def test_a_file_of_values_goes_before_the_environment(
    named: Path, values: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "production.yaml"
    file.write_text("PORTAL_NAME: no\n")
    run("importconfig", named, "--values", file)
    assert constant() == "no"
    file.write_text("PORTAL_NAME: [1]\n")
    assert "the value of PORTAL_NAME is a text" in refused("importconfig", named, "--values", file)
    assert "cannot be read" in refused("importconfig", named, "--values", tmp_path / "nowhere.yaml")


def test_every_missing_value_is_named_before_anything_is_changed(named: Path) -> None:
    versions = Version.objects.count()
    for option in ((), ("--dry-run",)):
        said = refused("importconfig", named, *option)
        assert re.search(r"PORTAL_NAME has no value here\. Set PORTICO_VALUE_PORTAL_NAME.*endpoints\[", said)
        assert "Set PORTICO_VALUE_PORTAL_TEAM_ID" in said
        assert "entities[" in said
    assert Version.objects.count() == versions


def test_what_was_imported_once_needs_no_variable_again(named: Path, values: pytest.MonkeyPatch) -> None:
    run("importconfig", named)
    values.delenv("PORTICO_VALUE_PORTAL_NAME")
    values.delenv("PORTICO_VALUE_PORTAL_TEAM_ID")
    assert run("importconfig", named).endswith("Nothing to change.\n")


def test_nothing_else_of_the_environment_can_be_named(
    portico: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVICE", "hunter2")
    file = written(tmp_path, lambda document: bind(document, {"env": "SECRET_OF_THE_SERVICE"}))
    said = refused("importconfig", file)
    assert "PORTICO_VALUE_SECRET_OF_THE_SERVICE" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"env": "TEAM", "type": "Guid"}, r"endpoints\[\d+\]\.bindings\[\d+\]\.value: TEAM: .*not nonsense"),
        ({"env": "TEAM", "type": "Nothing"}, "the type of TEAM must be one of String, Text, Integer"),
        ({"env": "team"}, "“team” cannot be the name of a value"),
        ({"env": "TEAM", "kind": "Guid"}, "bindings"),
    ],
)
def test_a_wrong_name_or_value_is_told_with_its_place(
    portico: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Any, why: str
) -> None:
    monkeypatch.setenv("PORTICO_VALUE_TEAM", "nonsense")
    file = written(tmp_path, lambda document: bind(document, value))
    assert re.search(why, refused("importconfig", file))


def test_a_name_that_stands_too_deep_to_be_kept_is_told(
    portico: None, tmp_path: Path, values: pytest.MonkeyPatch
) -> None:
    def deep(document: dict[str, Any]) -> None:
        called = {"a" * 200: {"b" * 200: {"env": "PORTAL_NAME"}}}
        document["endpoints"][0]["example_calls"] = [{"name": "Deep", "status": 200, "body": called}]

    said = refused("importconfig", written(tmp_path, deep))
    assert "PORTAL_NAME stands too deep" in said
    assert "at most 400 can be kept" in said


def test_a_value_is_put_into_fetchxml_as_text(portico: None, tmp_path: Path, values: Any) -> None:
    file = written(tmp_path, with_rule)
    hostile = '"/><condition attribute="name" operator="not-null"/><x y="'
    values.setenv("PORTICO_VALUE_PORTAL_TEAM_ID", hostile)
    versions = Version.objects.count()
    said = refused("importconfig", file)
    assert "sales.leads" in said
    assert "is not a GUID" in said
    assert Version.objects.count() == versions


def test_a_place_that_is_edited_keeps_what_somebody_typed(named: Path, values: Any) -> None:
    run("importconfig", named)
    Binding.objects.filter(attribute="websiteurl", endpoint__kind="create").update(value="By hand")
    exported = run("exportconfig")
    assert '"By hand"' in exported
    assert "PORTAL_NAME" not in exported
    assert "{env:PORTAL_TEAM_ID}" in exported


def test_a_name_stays_where_rows_are_moved(named: Path, values: Any) -> None:
    run("importconfig", named)
    row = Binding.objects.get(attribute="websiteurl", endpoint__kind="create")
    Binding.objects.filter(endpoint=row.endpoint).exclude(pk=row.pk).first().delete()  # type: ignore[union-attr]
    assert '"PORTAL_NAME"' in run("exportconfig")


def test_a_name_stays_where_items_are_renamed(named: Path, values: Any, admin_client: Client) -> None:
    """An entity gives its endpoints other keys, too."""
    run("importconfig", named)
    before = run("exportconfig")
    entity = ExposedEntity.objects.get(segment="leads")
    saved = save(admin_client, entity, segment="prospects")
    assert saved.status_code == 302
    renamed = run("exportconfig")
    assert '"segment": "prospects"' in renamed
    assert [renamed.count(name) for name in ("env:PORTAL_TEAM_ID", '"env": "PORTAL_NAME"')] == [1, 1]
    assert save(admin_client, entity, segment="leads").status_code == 302
    assert run("exportconfig") == before


def test_a_document_without_the_name_forgets_it(named: Path, values: Any) -> None:
    run("importconfig", named)
    assert EnvironmentValue.objects.count() == 2
    run("importconfig", CONFIGURATION)
    assert not EnvironmentValue.objects.exists()


def test_what_stays_as_it_is_keeps_its_values_and_their_names(
    named: Path, values: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run("importconfig", named)
    older = named.read_bytes()
    later = json.loads(run("exportconfig"))
    changed = next(
        item for item in later["endpoints"] if (item["kind"], item.get("exposure")) == ("create", "leads")
    )
    changed["title"] = "Changed later"
    named.write_text(json.dumps(later))
    run("importconfig", named)
    before = run("exportconfig")
    values.setenv("PORTICO_VALUE_PORTAL_NAME", "Fabrikam")

    named.write_bytes(older)
    run("importconfig", named, "--keep-later-changes")

    assert constant() == "Contoso <& Sons>"
    assert EnvironmentValue.objects.get(name="PORTAL_NAME").text == "Contoso <& Sons>"
    assert run("exportconfig") == before


def test_folders_name_values_too(named: Path, values: Any, tmp_path: Path) -> None:
    run("importconfig", named)
    folder = tmp_path / "configuration"
    run("exportconfig", "--folder", folder)
    created = from_yaml((folder / "modules/sales/endpoints/leads.create.yaml").read_bytes())
    assert {"env": "PORTAL_NAME", "type": "String"} in [each.get("value") for each in created["bindings"]]
    assert 'value="{env:PORTAL_TEAM_ID}"' in (folder / "modules/sales/entities/leads.yaml").read_text()
    assert run("importconfig", folder).endswith("Nothing to change.\n")

    EnvironmentValue.objects.all().delete()
    values.delenv("PORTICO_VALUE_PORTAL_NAME")
    assert "modules/sales/endpoints/leads.create.yaml: bindings[" in refused("importconfig", folder)


def test_a_document_is_judged_with_values_of_its_environment(named: Path, tmp_path: Path) -> None:
    metadata, values = tmp_path / "metadata.json", tmp_path / "test.yaml"
    run("exportmetadata", "--output", metadata)
    assert "PORTICO_VALUE_PORTAL_NAME" in refused("checkconfig", named, "--metadata", metadata)
    values.write_text(f"PORTAL_NAME: Contoso\nPORTAL_TEAM_ID: {TEAM}\n")
    run("checkconfig", named, "--metadata", metadata, "--values", values)


def test_the_studio_shows_values_and_where_they_are_used(
    named: Path, values: Any, admin_client: Client
) -> None:
    listed = reverse("admin:designer_environmentvalue_changelist")
    assert "No imported document names a value" in admin_client.get(listed).content.decode()
    run("importconfig", named)
    page = admin_client.get(listed).content.decode()
    for words in ("PORTAL_NAME", "Contoso &lt;&amp; Sons&gt;", "sales.leads.create", TEAM):
        assert words in page
    row = EnvironmentValue.objects.get(name="PORTAL_NAME")
    assert admin_client.post(f"{listed}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    exported = admin_client.get(reverse("studio:export_document")).content.decode()
    assert '"env": "PORTAL_NAME"' in exported


def test_what_is_wrong_beside_a_missing_value_is_told_at_once(portico: None, tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        bind(document, {"env": "NOBODY", "type": "Guid"})
        document["endpoints"][0]["colour"] = "red"
        document["modules"][0]["title"] = {"env": "NOBODY_EITHER"}

    said = refused("importconfig", written(tmp_path, change)).splitlines()
    assert len(said) == 4
    for words in ("NOBODY has no value here", "NOBODY_EITHER has no value here", "endpoints[0].colour"):
        assert sum(words in line for line in said) == 1

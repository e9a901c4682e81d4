"""A configuration as a folder: written, reviewed, imported, and what goes wrong on the way."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from referencing import Registry, Resource

from designer.documents.problems import DocumentError
from designer.documents.yaml_text import from_yaml, to_yaml
from designer.models import Endpoint, Module, Role, Version
from project.demo import CONFIGURATION
from tests.designer.commands import refused, run

pytestmark = pytest.mark.django_db

AWKWARD = st.text(
    alphabet="ab \n\t-:#'\"|>\r\x85\u2028\ufeff\x7f\x00{}[]&*!%@`?,.0123456789eExo_~=<", max_size=12
)
TEXTS = st.text(max_size=20) | AWKWARD
JSON = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(TEXTS, items, max_size=3),
    max_leaves=8,
)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(portico: None, tmp_path: Path) -> Path:
    run("exportconfig", "--folder", tmp_path / "configuration")
    return tmp_path / "configuration"


@given(JSON)
def test_yaml_says_what_json_says(value: Any) -> None:
    assert from_yaml(to_yaml(value).encode()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: no", {"a": "no"}),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: 1.50", {"a": Decimal("1.50")}),
        ("a: |\n  <x>\n    y\n  </x>\n", {"a": "<x>\n  y\n</x>\n"}),
    ],
)
def test_a_text_that_looks_like_something_else_stays_a_text(text: str, value: Any) -> None:
    assert from_yaml(text.encode()) == value


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"a: 1\na: 2", "duplicate key"),
        (b"a: [", "at line 1 column"),
        (b"a: .nan", ".nan is no number"),
        (b"a: !!python/object:os.system x", "python/object:os.system is nothing that JSON knows"),
        (b"a: !!binary aGk=", "binary is nothing"),
        (b"a: 1\n---\nb: 2", "another document"),
        (b"1: 2", "in quotes at line 1 column 1"),
        (b"\xff", "not UTF-8 text: see byte 0"),
        (b"a: *b", "undefined alias"),
        (b"[" * 5000, "recursion"),
        (b"a: !!bool x", "cannot be read"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_place(raw: bytes, why: str) -> None:
    with pytest.raises(DocumentError, match=why):
        from_yaml(raw)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_folder_that_is_imported_again_changes_nothing(portico: None, tmp_path: Path, form: str) -> None:
    run("exportconfig", "--folder", tmp_path / "one", "--format", form)
    assert run("importconfig", tmp_path / "one").endswith("Nothing to change.\n")
    run("exportconfig", "--folder", tmp_path / "two", "--format", form)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert {path.suffix for path in (tmp_path / "one" / "modules").rglob("*.*")} == {f".{form}"}


def test_an_empty_configuration_becomes_what_the_folder_says(folder: Path) -> None:
    empty = folder.parent / "empty.json"
    empty.write_text('{"format": 2}')
    groups = [f"--delete={name}" for name in ("context", "optionsets", "sales", "service", "portal")]
    run("importconfig", empty, *groups)
    assert not Endpoint.objects.exists()
    assert "Imported." in run("importconfig", folder)
    assert run("exportconfig").encode() == CONFIGURATION.read_bytes()


def test_fetchxml_is_text_that_can_be_read(folder: Path) -> None:
    text = (folder / "modules/portal/entities/articles.yaml").read_text()
    assert "- filter: |\n" in text
    assert '      <condition attribute="statecode" operator="eq" value="3"/>\n' in text


def test_an_edit_changes_one_file_and_a_removal_removes_one(folder: Path) -> None:
    before = contents(folder)
    Module.objects.filter(segment="sales").update(title="Another")
    run("exportconfig", "--folder", folder)
    changed = {path for path, text in contents(folder).items() if before.get(path) != text}
    assert changed == {"modules/sales/module.yaml"}

    Endpoint.objects.get(kind="global-action", module__segment="sales").delete()
    run("exportconfig", "--folder", folder)
    assert before.keys() - contents(folder).keys() == {"modules/sales/endpoints/global-action.ping.yaml"}


def test_what_the_folder_lacks_is_removed_as_its_manifest_says(folder: Path) -> None:
    (folder / "modules/sales/endpoints/global-action.ping.yaml").unlink()
    manifest = folder / "portico.yaml"
    whole = manifest.read_text()
    for removes in ("[]", "[service]"):
        manifest.write_text(f"format: 2\nremoves: {removes}\n")
        assert "it is kept" in run("importconfig", folder)
    for removes in ("everything", "[sales, a-module-that-is-gone]"):
        manifest.write_text(f"format: 2\nremoves: {removes}\n")
        assert "- endpoint sales.global-action.ping\n" in run("importconfig", folder, "--dry-run")
    manifest.write_text(whole)
    run("importconfig", folder)
    assert not Endpoint.objects.filter(kind="global-action", module__segment="sales").exists()


def test_a_module_goes_alone_and_leaves_the_others_as_they_are(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    Module.objects.update(title="Another")
    run("exportconfig", "--folder", folder, "--module", "service")
    changed = {path for path, text in contents(folder).items() if before.get(path) != text}
    assert changed == {"modules/service/module.yaml"}

    run("exportconfig", "--folder", tmp_path / "alone", "--module", "service")
    alone = contents(tmp_path / "alone")
    assert b"removes:\n- service\n" in alone["portico.yaml"]
    assert {Path(path).parts[1] for path in alone if path.startswith("modules/")} == {"service"}
    Endpoint.objects.filter(module__segment="service", kind="read").delete()
    assert "+ endpoint" in run("importconfig", tmp_path / "alone")


def test_every_problem_names_its_file(folder: Path) -> None:
    endpoints = folder / "modules/sales/endpoints"
    (endpoints / "accounts.create.yaml").write_text("module: sales\nkind: create\nkind: read\n")
    (endpoints / "elsewhere.yaml").write_text("module: service\nkind: read\nexposure: cases\n")
    (endpoints / "list.yaml").write_text("- 1\n")
    (endpoints / "empty.yaml").write_text("# nothing yet\n")
    (folder / "modules/sales/queries").mkdir()
    (folder / "modules/sales/queries/x.yaml").write_text("a: 1\n")
    (folder / "portico.yaml").write_text("format: 2\nremoves: all\nowner: me\n")
    before = Version.objects.count()
    said = refused("importconfig", folder)
    for words in (
        "modules/sales/endpoints/accounts.create.yaml: This YAML cannot be read: found duplicate key",
        "endpoints/elsewhere.yaml: its module is “service”, but it is in the folder of “sales”",
        "modules/sales/endpoints/list.yaml: write names and their values",
        "modules/sales/endpoints/empty.yaml: the file is empty",
        "modules/sales/queries/x.yaml: a configuration has no files there",
        "portico.yaml: removes is “everything”",
        "portico.yaml: “owner” means nothing here",
    ):
        assert words in said
    assert Version.objects.count() == before


def test_an_unreadable_endpoint_and_an_odd_manifest_do_not_hide_what_else_is_wrong(folder: Path) -> None:
    endpoints = folder / "modules/sales/endpoints"
    (endpoints / "accounts.read.yaml").write_text("a: [")
    with (folder / "portico.yaml").open("a") as manifest:
        manifest.write("oddmember: 1\n")
    update = endpoints / "accounts.update.yaml"
    item = from_yaml(update.read_bytes())
    item["bindings"][0]["attribute"] = "nam"
    update.write_text(to_yaml(item))
    said = refused("importconfig", folder)
    assert [line.partition(": ")[0] for line in said.splitlines()] == [
        "Nothing was changed.",
        "modules/sales/endpoints/accounts.read.yaml",
        "portico.yaml",
        "sales.accounts.update bindings.nam.attribute",
    ]


def test_a_wrong_value_is_named_with_file_and_place(folder: Path) -> None:
    file = folder / "modules/sales/endpoints/accounts.create.yaml"
    item = from_yaml(file.read_bytes())
    item["inputs"][1]["required"] = "perhaps"
    file.write_text(to_yaml(item))
    copy = folder / "roles/another.yaml"
    copy.write_bytes((folder / "roles/support.yaml").read_bytes())
    said = refused("importconfig", folder)
    assert "modules/sales/endpoints/accounts.create.yaml: inputs[1].required" in said
    file.write_text(to_yaml(item | {"inputs": []}))
    said = refused("importconfig", folder)
    assert "roles/support.yaml: the role support is already at roles/another.yaml" in said


def test_a_folder_without_manifest_is_no_configuration(portico: None, tmp_path: Path) -> None:
    assert "has no portico.yaml" in refused("importconfig", tmp_path)
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "somebody.yaml").write_text("- hosts: all\n")
    assert "roles/somebody.yaml" in refused("exportconfig", "--folder", tmp_path)
    assert contents(tmp_path) == {"roles/somebody.yaml": b"- hosts: all\n"}


def test_what_else_a_repository_holds_is_left_alone(folder: Path) -> None:
    others = {"README.md": b"# Ours\n", "docker-compose.yaml": b"services: {}\n", "modules/NOTES.md": b"x"}
    for path, text in others.items():
        (folder / path).write_bytes(text)
    run("exportconfig", "--folder", folder)
    assert run("importconfig", folder).endswith("Nothing to change.\n")
    assert {path: contents(folder)[path] for path in others} == others


def test_names_that_a_file_system_takes_for_one_have_two_files(portico: None, tmp_path: Path) -> None:
    for name in ("Partner", "partner", "part:ner", "part.ner"):
        Role.objects.create(name=name)
    run("exportconfig", "--folder", tmp_path)
    files = [path.name for path in (tmp_path / "roles").iterdir()]
    assert len({name.lower() for name in files}) == len(files) == Role.objects.count()
    assert run("importconfig", tmp_path).endswith("Nothing to change.\n")


def test_the_files_fit_the_schemas_beside_them(folder: Path) -> None:
    schemas = {path.name: json.loads(path.read_text()) for path in (folder / "schemas").iterdir()}
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas.items()
    )
    seen = set()
    for path in folder.rglob("*.yaml"):
        head, _, _ = path.read_text().partition("\n")
        if path.name == "portico.yaml":
            continue
        schema = (path.parent / head.removeprefix("# yaml-language-server: $schema=")).resolve()
        assert schema.parent == folder / "schemas"
        seen.add(schema.name)
        validator = jsonschema.Draft202012Validator(schemas[schema.name], registry=registry)
        # Decimals are no numbers to the validator.
        data = json.loads(json.dumps(from_yaml(path.read_bytes()), default=float))
        assert list(validator.iter_errors(data)) == []
        assert list(
            validator.iter_errors([{"nonsense": True}] if isinstance(data, list) else {"nonsense": 1})
        )
    assert seen >= {"endpoints.json", "entities.json", "modules.json", "roles.json", "user-properties.json"}


def test_drift_has_an_exit_code_of_its_own(folder: Path) -> None:
    run("importconfig", folder, "--dry-run", "--exit-code")
    Module.objects.filter(segment="sales").update(title="By hand")
    assert "is not as the document says" in refused(
        "importconfig", folder, "--dry-run", "--exit-code", code=3
    )
    assert Module.objects.get(segment="sales").title == "By hand"
    (folder / "modules/sales/module.yaml").write_text("module: [")
    assert "module.yaml" in refused("importconfig", folder, "--dry-run", "--exit-code", code=1)
    assert "--dry-run" in refused("importconfig", folder, "--exit-code")


def test_an_import_for_another_version_is_refused(folder: Path) -> None:
    report = json.loads(run("importconfig", folder, "--json"))
    version = report["version"]
    file = folder / "modules/sales/module.yaml"
    file.write_text(file.read_text().replace("title: ", "title: My "))
    Module.objects.filter(segment="service").update(title="By somebody else")
    newest = json.loads(run("configversions", "--json"))[0]["version"]
    assert newest > version
    for option in ((), ("--dry-run",)):
        said = refused("importconfig", folder, "--expect-version", version, *option)
        assert f"The newest version is {newest}, not {version}" in said
    assert not Module.objects.get(segment="sales").title.startswith("My ")
    run("importconfig", folder, "--expect-version", newest)
    assert Module.objects.get(segment="sales").title.startswith("My ")


def test_the_version_that_a_refusal_names_can_be_expected(folder: Path) -> None:
    version = json.loads(run("importconfig", folder, "--json"))["version"]
    Module.objects.filter(segment="service").update(title="By somebody else")
    file = folder / "modules/sales/module.yaml"
    file.write_text(file.read_text().replace("title: ", "title: My "))
    said = refused("importconfig", folder, "--expect-version", version)
    named = re.search(r"The newest version is (\d+), not", said)
    assert named is not None
    assert "Imported." in run("importconfig", folder, "--expect-version", named[1])


def test_versions_are_listed_and_restored_by_commands(folder: Path) -> None:
    run("importconfig", folder)
    version = json.loads(run("configversions", "--json"))[0]["version"]
    Module.objects.filter(segment="sales").update(title="By hand")
    listed = json.loads(run("configversions", "--json"))
    newest = listed[0]["version"]
    # PostgreSQL leaves numbers out that were taken back.
    assert newest > version == listed[1]["version"]
    assert listed[0]["origin"] == "outside"
    assert listed[0]["changes"] == 1
    lines = run("configversions", "--last", 1).splitlines()
    assert len(lines) == 1
    assert lines[0].split()[0] == str(newest)

    assert "~ module sales" in run("restoreconfig", version, "--dry-run")
    assert Module.objects.get(segment="sales").title == "By hand"
    assert "Restored" in run("restoreconfig", version)
    assert Module.objects.get(segment="sales").title != "By hand"
    assert Version.objects.order_by("pk").last().origin == "restore"  # type: ignore[union-attr]
    assert "is as it was at version" in run("restoreconfig", version)
    assert "configversions lists them" in refused("restoreconfig", 999_999)

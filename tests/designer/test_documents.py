"""Documents: what is exported comes back the same, and nothing hostile or half right gets in."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.documents.document_reader import read
from designer.documents.document_writer import export, to_bytes
from designer.documents.plan import Plan
from designer.documents.problems import DocumentError
from designer.history.recording import Author, Origin
from designer.imports.document_import import import_document, preview
from designer.loading import load
from designer.models import (
    Binding,
    Endpoint,
    ExposedEntity,
    Input,
    Module,
    Role,
    RowRuleEntry,
    UserProperty,
)
from designer.queries.query_wording import filter_in_words
from designer.revision import read_revision
from project.demo import CONFIGURATION
from tests.designer.rows import endpoint

pytestmark = pytest.mark.django_db


def demo() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(CONFIGURATION.read_bytes())
    return document


def _accounts(document: dict[str, Any]) -> dict[str, Any]:
    """The endpoint that creates accounts."""
    accounts: dict[str, Any] = document["endpoints"][AT]
    return accounts


# Where it stands.
AT = next(
    at
    for at, item in enumerate(demo()["endpoints"])
    if item["kind"] == "create" and item.get("exposure") == "accounts"
)


def exported(module: str | None = None) -> bytes:
    return to_bytes(export(load(), module))


def taken(raw: bytes, *delete: str) -> Plan:
    """Import where the platform has none of the demo's entities, so that nothing of it can be served."""
    author = Author(origin=Origin.COMMAND, may_change_write_access=True)
    return import_document(raw, delete, author, allow_broken=True).plan


def imported(document: dict[str, Any], *delete: str) -> list[str]:
    plan = taken(json.dumps(document).encode(), *delete)
    return [] if plan.does_nothing else list(plan.lines())


def problems(raw: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        taken(raw)
    assert str(caught.value) == _foreseen(raw)
    return str(caught.value)


def _foreseen(raw: bytes) -> str:
    """What a preview, which writes nothing, says of the same."""
    try:
        return "\n".join(map(str, preview(raw).sentences()))
    except DocumentError as error:
        return str(error)


def test_what_is_exported_comes_back_byte_for_byte() -> None:
    taken(CONFIGURATION.read_bytes())
    assert exported() == CONFIGURATION.read_bytes()
    before = exported()
    for model in (Endpoint, UserProperty):
        model.objects.all().delete()
    taken(before)
    assert exported() == before


@pytest.mark.parametrize(
    "value", ["type", "claims.tier", 'claims.realm_access."a.b"[0]', "claims.https://x.y/z"]
)
def test_what_is_compared_with_the_caller_comes_back_byte_for_byte(value: str) -> None:
    taken(CONFIGURATION.read_bytes())
    written = f'<filter><condition attribute="name" operator="eq" value="@user.{value}"/></filter>'
    rule = written.replace(f"@user.{value}", escape(f"@user.{value}", {'"': "&quot;"}))
    Endpoint.objects.filter(kind="read", entity__segment="accounts").update(row_rule=rule)
    RowRuleEntry.objects.filter(exposed__segment="accounts").delete()
    exposed = ExposedEntity.objects.get(segment="accounts", module__segment="sales")
    RowRuleEntry.objects.create(exposed=exposed, filter=rule)
    before = exported()
    assert before.count(f"@user.{value}".split('"')[0].encode()) == 2
    for model in (Endpoint, ExposedEntity):
        model.objects.all().delete()
    taken(before)
    assert exported() == before
    rules = {(one.module, one.segment): one.row_rule for one in load().entities}
    [entry] = rules["sales", "accounts"]
    assert entry.filter is not None
    assert f"@user.{value}" in filter_in_words(entry.filter, "account", lambda _: {})


def test_a_second_import_changes_nothing_not_even_the_revision() -> None:
    taken(CONFIGURATION.read_bytes())
    before, _ = read_revision()
    assert taken(CONFIGURATION.read_bytes()).does_nothing
    assert read_revision()[0] == before


def test_a_dry_run_says_everything_and_does_nothing() -> None:
    lines = list(preview(CONFIGURATION.read_bytes()).plan.lines())
    assert "+ endpoint sales.accounts.create" in lines
    assert not Module.objects.exists()


def test_a_change_is_shown_in_its_own_words() -> None:
    imported(demo())
    document = demo()
    accounts = _accounts(document)
    accounts["inputs"][1]["max_length"] = 40
    accounts["inputs"].append({"name": "fax"})
    lines = imported(document)
    assert lines == [
        "~ endpoint sales.accounts.create",
        "    inputs.phone.max_length: 50 → 40",
        '    inputs.fax: + {"name": "fax"}',
    ]
    assert (
        Input.objects.get(
            name="phone", endpoint__entity__segment="accounts", endpoint__kind="create"
        ).max_length
        == 40
    )


def test_what_a_document_lacks_is_kept_until_its_module_is_named() -> None:
    imported(demo())
    document = demo()
    document["endpoints"] = [item for item in document["endpoints"] if item.get("exposure") != "leads"]
    document["entities"] = [item for item in document["entities"] if item["segment"] != "leads"]
    taken(json.dumps(document).encode())
    assert Endpoint.objects.filter(entity__segment="leads").exists()
    lines = imported(document, "sales")
    assert lines == ["- endpoint sales.leads.create", "- entity sales.leads"]
    assert not Endpoint.objects.filter(entity__segment="leads").exists()


def test_a_module_goes_with_all_that_is_in_it_when_it_is_named() -> None:
    imported(demo())
    document = {**demo(), "modules": [], "entities": []}
    document["endpoints"] = [item for item in document["endpoints"] if "module" not in item]
    assert imported(document) == []
    imported(document, "sales")
    assert [module.segment for module in Module.objects.all()] == ["portal", "service"]
    imported(document, "portal")
    assert [module.segment for module in Module.objects.all()] == ["service"]
    imported(document, "service")
    assert not Module.objects.exists()
    assert exported() == to_bytes(read(json.dumps(document).encode()))


def test_context_and_option_sets_are_removed_by_their_own_names() -> None:
    imported(demo())
    imported({"format": 1}, "optionsets")
    assert not Endpoint.objects.filter(kind="option-set").exists()
    imported({"format": 1}, "portal", "sales", "service", "context")
    assert not Role.objects.exists()
    assert exported() == b'{\n  "format": 2\n}\n'


def test_a_role_in_use_is_not_removed_and_nothing_else_is_either() -> None:
    imported(demo())
    with pytest.raises(DocumentError, match="role sales-rep is in use"):
        imported({"format": 1}, "context", "optionsets")
    assert Endpoint.objects.filter(kind="option-set").exists()


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(DocumentError, match="there is no such module"):
        imported(demo(), "slaes")


def test_a_module_is_exported_with_the_roles_it_names() -> None:
    imported(demo())
    document = json.loads(exported("sales"))
    assert [role["name"] for role in document["roles"]] == ["sales-manager", "sales-rep"]
    assert "user_properties" not in document
    assert all(item["module"] == "sales" for item in document["endpoints"])
    assert imported(document) == []


@settings(max_examples=25, deadline=None)
@given(order=st.randoms(use_true_random=False), twice=st.booleans())
def test_the_order_of_what_has_none_is_no_change(order: Random, twice: bool) -> None:
    document = demo()
    upload = next(item for item in document["endpoints"] if item["kind"] == "upload")
    upload["settings"] = {
        **upload["settings"],
        "extensions": ["pdf", "docx", "png"],
        "content_types": ["image/*", "text/csv"],
    }
    options = next(item for item in document["endpoints"] if item["kind"] == "option-set")
    options["settings"] = {**options["settings"], "filter": {"mode": "leave_out", "values": [12, 7, 30]}}
    document["roles"][0]["platform_roles"] = ["Sales Manager", "Basic User", "Ümlaut", "apple"]
    imported(document)
    sets = [
        *(item["access"]["roles"] for item in document["endpoints"] if item.get("access", {}).get("roles")),
        *(role["platform_roles"] for role in document["roles"] if role.get("platform_roles")),
        *(upload["settings"][name] for name in ("extensions", "content_types")),
        options["settings"]["filter"]["values"],
    ]
    for items in sets:
        order.shuffle(items)
        items.extend(items[:1] if twice else ())
    for name in ("roles", "modules", "entities", "endpoints"):
        order.shuffle(document[name])
    assert imported(document) == []


def test_user_properties_keep_the_order_of_the_document() -> None:
    imported(demo())
    document = demo()
    document["user_properties"].reverse()
    assert imported(document) == ["~ user properties: in another order"]
    assert imported(document) == []
    assert load().user_properties[0].key == "contact.managedCompanyId"


def test_numbers_survive_to_the_last_digit() -> None:
    document = demo()
    accounts = _accounts(document)
    accounts["inputs"][2] |= {"maximum": "922337203685477.5807", "default": 0.1, "allowed": [1, 0.1, "2.50"]}
    imported(document)
    assert imported(document) == []
    revenue = json.loads(exported())["endpoints"][AT]["inputs"][2]
    assert (revenue["maximum"], revenue["default"]) == ("922337203685477.5807", 0.1)
    assert revenue["allowed"] == [1, 0.1, "2.50"]


def _with(change: Callable[[dict[str, Any]], object]) -> bytes:
    document = demo()
    change(document)
    return json.dumps(document).encode()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not valid JSON"),
    "cut off": (b'{"format": 1', "not valid JSON"),
    "not UTF-8": (b'{"format": "\xff"}', "not valid JSON"),
    "a list": (b"[]", "A document is a JSON object"),
    "a number": (b"1", "A document is a JSON object"),
    "nested without end": (b"[" * 100_000, "not valid JSON"),
    "a key twice": (b'{"format": 1, "format": 1}', "not valid JSON"),
    "not a number": (b'{"format": NaN}', "not valid JSON"),
    "no format": (b"{}", "format: is missing; write it"),
    "another format": (b'{"format": 3}', "format: "),
    "an unknown list": (b'{"format": 1, "tables": []}', "tables: is not known; remove it"),
    "an unknown key": (
        _with(lambda d: _accounts(d).update(colour="red")), "(sales.accounts.create): is not known",
    ),
    "an unknown kind": (_with(lambda d: _accounts(d).update(kind="teleport")), "unknown kind 'teleport'"),
    "settings of another kind": (
        _with(lambda d: _accounts(d).update(settings={"option_set": "x"})), "is not known",
    ),
    "a list instead of a text": (_with(lambda d: _accounts(d).update(title=[])), f"endpoints[{AT}].title"),
    "a length below nothing": (
        _with(lambda d: _accounts(d)["inputs"][0].update(max_length=-1)), "inputs[0].max_length",
    ),
    "a length past all sense": (
        _with(lambda d: _accounts(d)["inputs"][0].update(max_length=10**30)), "max_length",
    ),
    "a number past all sense": (
        CONFIGURATION.read_bytes().replace(b'"max_length": 160', b'"minimum": 1e999999999'), "minimum",
    ),
    "a default that JSON cannot hold": (
        CONFIGURATION.read_bytes().replace(b'"max_length": 160', b'"default": 922337203685477.5807'),
        "write it as text",
    ),
    "an endpoint twice": (
        _with(lambda d: d["endpoints"].append(_accounts(d))), "sales.accounts.create is already at endpoints",
    ),
    "an input twice": (
        _with(lambda d: _accounts(d)["inputs"].append({"name": "name"})), "“name” is listed more than once",
    ),
    "an unknown module": (_with(lambda d: d.update(modules=[])), "There is no module “sales”"),
    "an unknown entity": (_with(lambda d: d.update(entities=[])), "exposes no entity as “accounts”"),
    "an unknown role": (_with(lambda d: d.update(roles=[])), "There is no role “sales-manager”"),
    "a reserved segment": (
        _with(lambda d: d["modules"].append({"segment": "api"})), "“api” is reserved for the service itself",
    ),
    "an odd segment": (_with(lambda d: d["modules"].append({"segment": "../etc"})), "lower-case letters"),
    "an odd input": (_with(lambda d: _accounts(d)["inputs"][0].update(name="a b")), "letters, digits and _"),
    "a NUL": (_with(lambda d: _accounts(d).update(title="a\0b")), f"endpoints[{AT}].title: contains a NUL"),
    "a NUL in a name": (
        _with(
            lambda d: _accounts(d).update(example_calls=[{"name": "a", "status": 201, "body": {"a\0b": 1}}])
        ),
        f"endpoints[{AT}].example_calls[0].body: contains a NUL",
    ),
    "a title too long": (_with(lambda d: _accounts(d).update(title="x" * 201)), "at most 200 characters"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_document_that_is_wrong_is_refused_with_its_place_and_nothing_is_kept(case: str) -> None:
    raw, message = HOSTILE[case]
    assert message in problems(raw)
    assert not Module.objects.exists()
    assert not Role.objects.exists()


def test_every_mistake_is_named_at_once() -> None:
    document = demo()
    _accounts(document)["inputs"][0]["max_length"] = "many"
    document["roles"][0]["colour"] = "red"
    text = problems(json.dumps(document).encode())
    assert "roles[0]" in text
    assert f"endpoints[{AT}]" in text


def test_a_document_past_the_limit_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("designer.documents.document_reader.LARGEST_DOCUMENT", 10)
    assert "at most 10 bytes" in problems(CONFIGURATION.read_bytes())


def test_broken_rows_are_not_lost_by_an_export() -> None:
    row = endpoint()
    Endpoint.objects.filter(pk=row.pk).update(settings={"odd": 1})
    with pytest.raises(DocumentError, match=r"shop\.things\.create cannot be exported"):
        exported()


_NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
_TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
_VALUES = st.one_of(
    _TEXTS,
    st.integers(-(10**30), 10**30),
    st.booleans(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6),
    st.lists(st.integers(), max_size=3),
)


@settings(max_examples=60, deadline=None)
@given(
    title=_TEXTS,
    inputs=st.dictionaries(_NAMES, st.tuples(_TEXTS, _VALUES, st.lists(_VALUES, max_size=3)), max_size=4),
    bindings=st.dictionaries(_NAMES, _VALUES, max_size=4),
)
def test_any_configuration_survives_the_round_trip(
    title: str, inputs: dict[str, Any], bindings: dict[str, Any]
) -> None:
    row = Endpoint.objects.filter(entity__segment="things").first() or endpoint()
    row.title = title
    row.save()
    row.inputs.all().delete()
    row.bindings.all().delete()
    for at, (name, (description, default, allowed)) in enumerate(inputs.items()):
        Input.objects.create(
            endpoint=row, position=at, name=name, description=description, default=default, allowed=allowed
        )
    for at, (attribute, value) in enumerate(bindings.items()):
        Binding.objects.create(endpoint=row, position=at, attribute=attribute, source="constant", value=value)
    before = exported()
    row.inputs.all().delete()
    Endpoint.objects.filter(pk=row.pk).update(title="")
    taken(before)
    assert exported() == before


def _command(name: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue()


def test_the_commands_export_import_and_describe(tmp_path: Path) -> None:
    assert "Imported." in _command("importconfig", str(CONFIGURATION), "--allow-broken")
    assert _command("importconfig", str(CONFIGURATION)).endswith("\nNothing to change.\n")
    assert _command("exportconfig").encode() == CONFIGURATION.read_bytes()
    file = tmp_path / "sales.json"
    _command("exportconfig", "--module", "sales", "--output", str(file))
    assert _command("importconfig", str(file), "--dry-run").endswith("\nNothing to change.\n")
    Role.objects.create(name="kept")
    Module.objects.filter(segment="sales").update(title="Another")
    assert "a dry run" in _command("importconfig", str(file), "--dry-run")
    assert Module.objects.get(segment="sales").title == "Another"
    schema = json.loads(_command("configschema"))
    assert schema["properties"].keys() >= {"format", "endpoints", "roles"}


def test_a_command_says_what_is_wrong_in_sentences(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        _command("importconfig", str(tmp_path / "missing.json"))
    file = tmp_path / "bad.json"
    file.write_text("{}")
    with pytest.raises(CommandError, match="Nothing was changed"):
        _command("importconfig", str(file))
    with pytest.raises(CommandError, match="There is no module “nowhere”"):
        _command("exportconfig", "--module", "nowhere")


def test_checkconfig_passes_the_demo_and_fails_on_what_cannot_be_served(portico: None) -> None:
    assert "anonymous-write" in _command("checkconfig")
    Binding.objects.filter(attribute="name").delete()
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("checkconfig", "--json", stdout=out)
    assert caught.value.returncode == 1
    report = json.loads(out.getvalue())
    assert report["blocking"] == 1
    assert "required-attribute-unbound" in {finding["rule"] for finding in report["findings"]}

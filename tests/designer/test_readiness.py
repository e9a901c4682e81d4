"""Readiness: each rule finds what it is for, and is silent where all is well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from designer.configuration import Endpoint
from designer.definitions import (
    AccessDefinition,
    BindingDefinition,
    EndpointDefinition,
    ExampleCallDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
)
from designer.definitions.row_rules import RowRuleEntry
from designer.platform import get_platform
from designer.readiness import Checker, Finding, Metadata, Severity, State, check, state_of
from designer.readiness.findings import DRIFT
from designer.readiness.registry import ENDPOINT_RULES, USER_PROPERTY_RULES
from tests.designer.judged import (
    BOUND,
    COLOURED,
    EXPOSED,
    NAME,
    action,
    an_input,
    configured,
    create,
    files,
    found,
    metadata,
    option_set,
    ping,
    read,
    with_binding,
    with_input,
)

PRICED = BindingDefinition(attribute="price", value="price")
ANYONE = AccessDefinition(authentication_required=False)
CUSTOMERS = AccessDefinition(roles=("buyer",), caller_types=("user", "contact"))
BUYERS = AccessDefinition(roles=("buyer",))
GONE = EXPOSED.model_copy(update={"entity": "gone"})
OWN = '<filter><condition attribute="name" operator="eq" value="mine"/></filter>'


def listed_things(*exposed: ExposedEntityDefinition, where: str = "", **values: Any) -> Endpoint:
    query = f'<fetch><entity name="thing"><attribute name="name"/>{where}</entity></fetch>'
    given = {
        "kind": "multi-query",
        "module": "shop",
        "name": "things",
        "settings": {"query": query},
        **values,
    }
    return Endpoint(EndpointDefinition.model_validate(given), None, exposures=exposed)


def what_blocks(endpoint: Endpoint) -> list[tuple[str, str]]:
    """The rules that keep the endpoint from being served, and where."""
    findings = check(endpoint, configured(endpoint), metadata())
    return [(finding.rule, finding.field) for finding in findings if finding.is_blocking]


def example(**call: Any) -> tuple[ExampleCallDefinition, ...]:
    return (ExampleCallDefinition(name="a call", status=200, **call),)


FINDINGS: dict[str, tuple[str, Endpoint]] = {
    "no entity": ("entity-missing", create(exposure="", entity=None)),
    "unknown entity": (
        "entity-unknown", create(entity=EXPOSED.model_copy(update={"entity": "gone"})),
    ),
    "an entity that shows the records of others": (
        "entity-read-only", create(entity=EXPOSED.model_copy(update={"entity": "everything"})),
    ),
    "reserved segment": ("path-segment", create(segment="api")),
    "odd segment": ("path-segment", create(segment="Not ok")),
    "no name": ("path-segment", create(kind="local-option-set", name="", inputs=(), bindings=())),
    "unknown role": ("role-unknown", create(access=AccessDefinition(roles=("nobody",)))),
    "roles without authentication": (
        "roles-without-authentication", create(access=ANYONE.model_copy(update={"roles": ("buyer",)})),
    ),
    "anonymous write": ("anonymous-write", create(access=ANYONE)),
    "odd input name": ("input-name", create(inputs=(NAME, an_input(name="a b")))),
    "names that differ in case": ("input-repeated", create(inputs=(NAME, an_input(name="NAME")))),
    "unknown type": ("input-type", with_input(type="Colour")),
    "minimum above maximum": ("input-limits", with_input(type="Integer", minimum=2, maximum=1)),
    "lengths the wrong way round": ("input-limits", with_input(min_length=2, max_length=1)),
    "a limit without meaning": ("input-limits-unused", with_input(type="Integer", max_length=5)),
    "a pattern that is none": ("input-pattern", with_input(pattern="(")),
    "a pattern RE2 cannot run": ("input-pattern", with_input(pattern="(a)\\1")),
    "an allowed value too long": ("input-allowed", with_input(allowed=("x" * 51,))),
    "an allowed value too short": ("input-allowed", with_input(min_length=2, allowed=("a",))),
    "an allowed value of another pattern": ("input-allowed", with_input(pattern="[0-9]+", allowed=("a",))),
    "a default of another type": ("input-default", with_input(default=5)),
    "a default of another pattern": ("input-default", with_input(pattern="[0-9]+", default="abc")),
    "a default outside the allowed": ("input-default", with_input(allowed=("a",), default="b")),
    "a required input that calls may leave out": ("input-required-default", with_input(default="x")),
    "an input that goes nowhere": ("input-unused", create(inputs=(NAME, an_input(name="idle")))),
    "unknown attribute": ("attribute-unknown", with_binding(attribute="gone", value="name")),
    "read-only attribute": ("attribute-read-only", with_binding(attribute="createdon", value="name")),
    "a file": ("attribute-read-only", with_binding(attribute="photo", value="name")),
    "required and unbound": ("required-attribute-unbound", create(bindings=())),
    "required and optional": ("required-attribute-optional", with_input(required=False)),
    "an input not defined": ("binding-input", with_binding(attribute="price", value="nowhere")),
    "types that do not fit": ("binding-types", with_binding(attribute="price", value="name")),
    "longer than the attribute": ("binding-length", with_input(max_length=200)),
    "a value of another type": (
        "binding-value-types", with_binding(attribute="colour", source="user", value="mail"),
    ),
    "a value that is always too long": (
        "binding-value-length", with_binding(attribute="code", source="user", value="mail"),
    ),
    "an expression that is always too long": (
        "binding-value-length", with_binding(attribute="code", source="expression", value="user.mail"),
    ),
    "an expression that never has a value": (
        "binding-expression-value", with_binding(attribute="price", source="expression", value="1 / 0"),
    ),
    "an expression that gives another type": (
        "binding-expression-value", with_binding(attribute="price", source="expression", value="[1]"),
    ),
    "an expression that gives no option": (
        "binding-expression-value", with_binding(attribute="colour", source="expression", value="4 + 5"),
    ),
    "an empty expression for what is required": (
        "binding-empty",
        create(bindings=(BOUND.model_copy(update={"source": "expression", "value": "null"}),)),
    ),
    "an empty constant for what is required": (
        "binding-empty", create(bindings=(BOUND.model_copy(update={"source": "constant", "value": None}),)),
    ),
    "a reference to no entity": (
        "input-reference-entity", create(inputs=(NAME, an_input(name="who", type="EntityReference"))),
    ),
    "a constant that does not fit": (
        "binding-constant", with_binding(attribute="colour", source="constant", value=9),
    ),
    "a user property not defined": (
        "binding-user-property", with_binding(attribute="price", source="user", value="x"),
    ),
    "a user where anyone may call": (
        "binding-user-anonymous",
        create(access=ANYONE, bindings=(BindingDefinition(attribute="name", source="user", value="mail"),)),
    ),
    "an expression that does not compile": (
        "binding-expression", with_binding(attribute="price", source="expression", value="1 +"),
    ),
    "a type of caller that there is not": (
        "caller-type-unknown", create(access=AccessDefinition(caller_types=("robot",))),
    ),
    "no type of caller": ("caller-types-none", create(access=AccessDefinition(caller_types=()))),
    "a property that a type lacks": (
        "caller-type-properties",
        create(
            access=AccessDefinition(caller_types=("user", "contact")), inputs=(),
            bindings=(BindingDefinition(attribute="name", source="user", value="mail"),),
        ),
    ),
    "a rule that reads a property which a type lacks": (
        "caller-type-properties",
        create(
            kind="update",
            row_rule='<filter><condition attribute="name" operator="eq" value="@user.mail"/></filter>',
        ),
    ),
    "a rule that reads a claim which no issuer gives": (
        "caller-type-claims",
        create(
            kind="update",
            row_rule='<filter><condition attribute="name" operator="eq" value="@user.claims.tier"/></filter>',
        ),
    ),
    "a rule about users for callers that are none": (
        "caller-type-no-users",
        create(
            kind="update",
            row_rule='<filter><condition attribute="unitid" operator="eq-userid"/></filter>',
        ),
    ),
    "no module": ("module-missing", ping(module="")),
    "a default that an update never uses": (
        "input-default-partial", create(kind="update", inputs=(an_input(required=False, default="x"),)),
    ),
    "nothing to read": ("columns-missing", read()),
    "an unknown column": ("column-unknown", read("gone")),
    "a column that the platform never answers": ("column-unreadable", read("secret")),
    "an unknown output": ("column-unknown", ping(columns=({"attribute": "Answer"},))),
    "one key of two columns": ("column-key", read("name", "colour:Name")),
    "a key that is a label's": (
        "column-key", read("colour", "name:colourLabel", settings={"labels": True}),
    ),
    "a key that a lookup loses its id for": ("column-key", read("unitid", "name:unit")),
    "a name that gives no key": ("column-key", read("name:!")),
    "no process chosen": ("process-unknown", action("")),
    "an unknown process": ("process-unknown", action("Sing")),
    "a global process on a record": ("process-bound-elsewhere", action("Ping")),
    "a record's process on none": (
        "process-bound-elsewhere", ping(settings={"process": "Paint"}, bindings=(COLOURED,)),
    ),
    "an unbound input of a process": ("required-attribute-unbound", action("Paint")),
    "a parameter that the process lacks": ("attribute-unknown", ping(bindings=(COLOURED,))),
    "no files chosen": ("file-column", files("upload")),
    "an unknown file column": ("file-column", files("download", attribute="gone")),
    "a column that holds no file": ("file-column", files("download", attribute="name")),
    "notes where there are none": ("file-column", files("upload", notes=True)),
    "larger files than the platform takes": ("upload-size", files("upload", attribute="photo")),
    "no option set chosen": ("option-set-unknown", option_set(option_set="")),
    "unknown option set": ("option-set-unknown", option_set(option_set="gone")),
    "a filter on no value": ("option-filter-values", option_set(filter={"mode": "keep"})),
    "a filter on an unknown value": (
        "option-filter-values", option_set(filter={"mode": "leave_out", "values": [9]}),
    ),
    "a filter that does not compile": (
        "option-filter-expression", option_set(filter={"mode": "expression", "expression": "colour ="}),
    ),
    "a filter that fails for an option": (
        "option-filter-expression",
        option_set(filter={"mode": "expression", "expression": "label.size() > 'x'"}),
    ),
    "records for anyone": ("anonymous-read", read("name", access=ANYONE)),
    "an option set for anyone": ("option-set-public", option_set()),
    "deleting any record": ("delete-without-row-rule", create(kind="delete", inputs=(), bindings=())),
    "writing any record, for every caller": ("write-without-roles", create(kind="update")),
    "every contact's records": (
        "caller-type-without-row-rule", read("name", access=CUSTOMERS),
    ),
    "changing every contact's records": (
        "caller-type-without-row-rule", create(kind="update", access=CUSTOMERS),
    ),
    "a list of every contact's records": (
        "caller-type-without-row-rule", listed_things(access=CUSTOMERS),
    ),
    "any type of file": ("upload-without-types", files("upload", attribute="photo")),
    "an example call as nobody": ("example-call-outdated", create(example_calls=example(roles=("nobody",)))),
    "an example call that nobody is refused": (
        "example-call-outdated", create(example_calls=example(refused_for=("nobody",))),
    ),
    "an example call of no type": (
        "example-call-outdated", create(example_calls=example(caller_type="robot")),
    ),
    "an example call with a file": (
        "example-call-outdated", create(example_calls=example(upload={"name": "a.pdf", "size": 1})),
    ),
    "an example call by no method": ("example-call-outdated", create(example_calls=example(method="GET"))),
}  # fmt: skip


RULED = EXPOSED.model_copy(update={"row_rule": (RowRuleEntry(filter=OWN),)})
LINKS = '<link-entity name="thing" from="name" to="name" link-type="{}" alias="l{}"/>'
OF_CALLER = '<filter><condition attribute="name" operator="eq" value="@user.mail"/></filter>'
ABOUT_OPEN_RECORDS = {"anonymous-read", "caller-type-without-row-rule"}


@pytest.mark.parametrize(
    "endpoint",
    [
        read("name", access=CUSTOMERS, entity=RULED),
        read("name", access=CUSTOMERS, row_rule=OWN),
        read("name", access=BUYERS),
        read("name", access=ANYONE, entity=RULED),
        listed_things(RULED, access=CUSTOMERS),
        listed_things(RULED, access=ANYONE),
        listed_things(access=CUSTOMERS, row_rule=OWN),
        listed_things(access=CUSTOMERS, where=OF_CALLER),
        create(access=CUSTOMERS),
        create(
            kind="update",
            access=CUSTOMERS,
            preconditions=({"expression": "record.name == user.mail", "status": 404, "message": "No."},),
        ),
    ],
)
def test_a_row_rule_or_the_query_says_which_records_are_the_callers(endpoint: Endpoint) -> None:
    assert ABOUT_OPEN_RECORDS.isdisjoint(found(endpoint))


@pytest.mark.parametrize("case", FINDINGS)
def test_a_rule_finds_what_it_is_for(case: str) -> None:
    rule, endpoint = FINDINGS[case]
    assert rule in found(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        create(),
        create(access=AccessDefinition(roles=("buyer",))),
        create(inputs=(NAME, an_input(name="price", type="Money", required=False)), bindings=(BOUND, PRICED)),
        create(inputs=(an_input(pattern="[a-z]+", allowed=("a", "b"), min_length=1, max_length=50),)),
        create(inputs=(an_input(required=False, default="x"),)),
        with_binding(attribute="colour", source="constant", value=1),
        create(
            access=AccessDefinition(caller_types=("user",)),
            inputs=(),
            bindings=(BindingDefinition(attribute="name", source="user", value="mail"),),
        ),
        create(
            inputs=(NAME, an_input(name="factor", type="Integer")),
            bindings=(
                BOUND,
                BindingDefinition(attribute="price", source="expression", value="input.factor * 2"),
            ),
        ),
        create(
            kind="local-option-set", name="colours", inputs=(), bindings=(), settings={"option_set": "colour"}
        ),
        create(kind="update", access=BUYERS),
        create(kind="update", row_rule=OWN),
        create(kind="delete", inputs=(), bindings=(), row_rule=OWN),
        read("name", "colour", "unitid:owner", "name:second", settings={"labels": True}),
        read("colour", "name:colourLabel"),
        action("Paint", bindings=(COLOURED,), access=BUYERS),
        ping(columns=({"attribute": "Echo", "name": "answer"},)),
        option_set(authentication_required=True),
        option_set(authentication_required=True, filter={"mode": "keep", "values": [1]}),
        option_set(
            authentication_required=True,
            filter={"mode": "expression", "expression": "value > 1 && label != ''"},
        ),
        files("upload", access=BUYERS, attribute="photo", max_size=1000, extensions=["png"]),
        files("download", attribute="photo"),
    ],
)
def test_nothing_is_found_where_all_is_well(endpoint: Endpoint) -> None:
    assert found(endpoint) == set()


def test_an_entity_property_without_an_attribute_is_told_to_have_one() -> None:
    endpoint = with_binding(attribute="", value="name")
    findings = check(endpoint, configured(endpoint), metadata())
    said = [(found.field, str(found.message)) for found in findings if found.rule == "attribute-unknown"]
    assert said == [("bindings", "Choose the attribute that the entity property sets.")]


def test_two_endpoints_at_one_path_are_found_on_both() -> None:
    checker = Checker(configured(create(), create(title="Second")), metadata())
    for id in (1, 2):
        assert {finding.rule for finding in checker.endpoint(id)} == {"path-taken"}


def test_a_draft_takes_no_path() -> None:
    checker = Checker(configured(create(), create(enabled=False)), metadata())
    assert checker.endpoint(1) == []


def test_every_rule_has_a_case_and_an_id_of_its_own() -> None:
    rules = [rule.id for rule in ENDPOINT_RULES] + [rule.id for rule in USER_PROPERTY_RULES]
    assert len(rules) == len(set(rules))
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_readiness*.py"))
    assert [rule for rule in rules if f'"{rule}"' not in tests] == []


def test_anonymous_callers_without_a_limit_are_found(settings: Any) -> None:
    assert "anonymous-without-limit" not in found(option_set())
    settings.PORTICO = {**settings.PORTICO, "ADDRESS_RATE": 0}
    assert "anonymous-without-limit" in found(option_set())


def test_all_findings_come_at_once() -> None:
    assert {"role-unknown", "input-pattern", "required-attribute-unbound"} <= found(
        create(access=AccessDefinition(roles=("nobody",)), inputs=(an_input(pattern="("),), bindings=())
    )


def test_without_metadata_what_cannot_be_checked_is_a_warning() -> None:
    endpoint = create(access=AccessDefinition(roles=("nobody",)))
    findings = check(endpoint, configured(endpoint), metadata(down=True))
    assert {finding.rule: finding.is_blocking for finding in findings} == {
        "role-unknown": True,
        "metadata-unavailable": False,
    }


def test_a_row_that_cannot_be_read_is_blocked_with_the_reason() -> None:
    broken = Endpoint(create().definition, EXPOSED, problem="settings: odd")
    (finding,) = check(broken, configured(broken), metadata())
    assert (finding.rule, finding.message, finding.is_blocking) == ("row-unreadable", "settings: odd", True)


def test_states() -> None:
    blocked = create(bindings=())
    blocking = check(blocked, configured(blocked), metadata())
    warned = create(access=ANYONE)
    warnings = check(warned, configured(warned), metadata())
    assert state_of(True, []) is State.READY
    assert state_of(True, warnings) is State.READY
    assert state_of(True, blocking) is State.BLOCKED
    changed = Finding(DRIFT, Severity.WARNING, "", "")
    assert state_of(True, [changed]) is State.DEGRADED
    # What cannot be served is blocked, also where that comes of changed metadata.
    assert state_of(True, [changed, *blocking]) is State.BLOCKED
    assert state_of(False, blocking) is State.DRAFT


def test_messages_say_what_to_do_in_the_words_of_the_field() -> None:
    endpoint = create(bindings=())
    messages = [finding.message for finding in check(endpoint, configured(endpoint), metadata())]
    assert (
        "The platform requires name (name), and nothing sets it: bind it to an input or a constant."
        in messages
    )


def test_an_entity_that_the_platform_lacks_is_told_once() -> None:
    """Not again for each entry of its row rule."""
    entries = tuple(RowRuleEntry.model_validate({"filter": OWN, "roles": roles}) for roles in ([], ["buyer"]))
    gone = EXPOSED.model_copy(update={"entity": "gone", "row_rule": entries})
    assert found(read(entity=gone)) & {"entity-unknown", "row-rule"} == {"entity-unknown"}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("upload", {"attribute": "photo"}),
        ("local-option-set", {"option_set": "colour"}),
        ("associate", {"relationship": "thing_units", "related": "things"}),
    ],
)
def test_what_an_unknown_entity_would_have_is_not_told_besides(kind: str, settings: dict[str, str]) -> None:
    endpoint = create(entity=GONE, kind=kind, name="act", inputs=(), bindings=(), settings=settings)
    assert what_blocks(endpoint) == [("entity-unknown", "entity")]


def test_a_process_is_not_called_one_of_another_entity_than_an_unknown_one() -> None:
    coloured = BindingDefinition(attribute="Colour", source="constant", value="red")
    assert what_blocks(action("Paint", entity=GONE, bindings=(coloured,))) == [("entity-unknown", "entity")]


def test_nothing_else_is_told_of_lists_and_records_of_an_unknown_entity() -> None:
    query = '<fetch><entity name="unit"><attribute name="name"/>{}</entity></fetch>'
    about = '<filter><condition attribute="name" operator="eq" value="@record.name"/></filter>'
    parts = an_input(name="parts", type="List", relationship="thing_parts", inputs=(NAME,))
    near = FetcherDefinition.model_validate({"name": "near", "query": query.format(about)})
    endpoint = create(entity=GONE, kind="update", inputs=(parts,), bindings=(), fetchers=(near,))
    assert what_blocks(endpoint) == [("entity-unknown", "entity")]


@pytest.mark.parametrize(
    ("exposed", "ticked", "count"), [(RULED, True, ["16"]), (RULED, False, []), (EXPOSED, True, [])]
)
def test_a_link_that_a_row_rule_doubles_counts_twice(
    exposed: ExposedEntityDefinition, ticked: bool, count: list[str]
) -> None:
    links = "".join(LINKS.format("inner", number) for number in range(14)) + LINKS.format("all", 14)
    endpoint = listed_things(exposed, where=links)
    settings = endpoint.definition.settings.model_copy(update={"linked_row_rules": ticked})
    endpoint = replace(endpoint, definition=endpoint.definition.model_copy(update={"settings": settings}))
    messages = [str(finding.message) for finding in check(endpoint, configured(endpoint), metadata())]
    assert [text.split()[2] for text in messages if "linked entities; at most 15" in text] == count


@pytest.mark.parametrize(("column", "what"), [("new_contract", "files"), ("new_logo", "images")])
def test_an_upload_without_types_says_what_its_column_takes(portico: None, column: str, what: str) -> None:
    accounts = ExposedEntityDefinition(module="shop", segment="things", entity="account")
    upload = create(
        kind="upload", name="any", inputs=(), bindings=(), settings={"attribute": column}, entity=accounts
    )
    findings = check(upload, configured(upload), Metadata(get_platform()))
    (said,) = (each.message for each in findings if each.rule == "upload-without-types")
    assert said.startswith(f"Callers may upload {what} of any type.")

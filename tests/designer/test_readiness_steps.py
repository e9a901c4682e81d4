"""Readiness of row rules and data fetchers, against the demo's metadata."""

from __future__ import annotations

from typing import Any

import pytest

from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import (
    AccessDefinition,
    EndpointDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
    InputDefinition,
    IssuerDefinition,
    ModuleDefinition,
    RecordDefinition,
    UserPropertyDefinition,
)
from designer.platform import get_platform
from designer.readiness import Finding, Metadata, check

pytestmark = pytest.mark.usefixtures("portico")

PROPERTIES = (
    UserPropertyDefinition(name="city", attribute="title"),
    UserPropertyDefinition(name="unit", attribute="businessunitid"),
    UserPropertyDefinition(name="gone", attribute="nowhere"),
)
ACCOUNT = '<fetch><entity name="account"><attribute name="name"/>{}</entity></fetch>'


def rule(condition: str) -> str:
    return f"<filter><condition {condition}/></filter>"


def fetcher(name: str, condition: str = "", **more: Any) -> FetcherDefinition:
    inner = rule(condition) if condition else ""
    return FetcherDefinition.model_validate({"name": name, "query": ACCOUNT.format(inner), **more})


def findings(
    *,
    kind: str = "update",
    of_entity: Any = "",
    access: AccessDefinition | None = None,
    issuers: tuple[IssuerDefinition, ...] = (),
    **definition: Any,
) -> list[Finding]:
    exposed = ExposedEntityDefinition.model_validate(
        {"module": "shop", "segment": "accounts", "entity": "account", "row_rule": of_entity}
    )
    endpoint = Endpoint(
        EndpointDefinition.model_validate(
            {
                "kind": kind,
                "module": "shop",
                "exposure": "accounts",
                "access": access or AccessDefinition(),
                **definition,
            }
        ),
        exposed,
        exposures=(exposed,),
    )
    return judged(endpoint, issuers=issuers)


def judged(endpoint: Endpoint, *, issuers: tuple[IssuerDefinition, ...] = ()) -> list[Finding]:
    configuration = Configuration(
        Revision(1, ""),
        {1: endpoint},
        modules=(ModuleDefinition(segment="shop"),),
        entities=endpoint.exposures,
        user_properties=PROPERTIES,
        issuers=issuers,
    )
    return check(endpoint, configuration, Metadata(get_platform()))


def of_query(
    *, of_entity: Any, access: AccessDefinition, by_fetcher: bool = False, linked: bool = False
) -> list[Finding]:
    """Findings about a query that reads the exposed accounts, by itself, by a link or by a data fetcher."""
    exposed = ExposedEntityDefinition.model_validate(
        {"module": "shop", "segment": "accounts", "entity": "account", "row_rule": of_entity}
    )
    contacts = '<fetch><entity name="contact"><attribute name="fullname" alias="name"/>{}</entity></fetch>'
    link = (
        '<link-entity name="account" from="accountid" to="parentcustomerid" link-type="outer" alias="a">'
        '<attribute name="name" alias="company"/></link-entity>'
    )
    query = contacts.format(link if linked else "") if linked or by_fetcher else ACCOUNT.format("")
    definition = {
        "kind": "multi-query",
        "module": "shop",
        "name": "asked",
        "access": access,
        "settings": {"query": query, "linked_row_rules": linked},
        "fetchers": (fetcher("a", apply_row_rules=True),) if by_fetcher else (),
    }
    return judged(Endpoint(EndpointDefinition.model_validate(definition), None, exposures=(exposed,)))


def about(all_findings: list[Finding], rule: str) -> list[tuple[str, str]]:
    return [(finding.field, finding.message) for finding in all_findings if finding.rule == rule]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("revenue", "@user.unit"),
        ("createdon", "@user.unit"),
        ("new_interests", "@user.unit"),
        ("primarycontactid", "@fetch.a.revenue"),
        ("name", "@fetch.a.revenue"),
        ("donotemail", "@fetch.a.industrycode"),
    ],
)
def test_what_can_never_be_compared_is_found_wherever_it_stands(attribute: str, value: str) -> None:
    condition = f'attribute="{attribute}" operator="eq" value="{value}"'
    columns = '<attribute name="revenue"/><attribute name="industrycode"/>'
    first = {"name": "a", "query": ACCOUNT.format(columns)}
    all_findings = findings(row_rule=rule(condition), fetchers=(first, fetcher("b", condition)))
    assert [field for field, _ in about(all_findings, "condition-value-types")] == [
        "fetchers.b.query",
        "row_rule",
    ]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("ownerid", "@user.unit"),
        ("name", "@user.unit"),
        # A text may say a number, a day or an id.
        ("revenue", "@user.city"),
        ("createdon", "@user.city"),
        ("primarycontactid", "@user.city"),
        ("new_interests", "@user.city"),
    ],
)
def test_what_can_be_compared_is_left_in_peace(attribute: str, value: str) -> None:
    condition = f'attribute="{attribute}" operator="eq" value="{value}"'
    assert about(findings(of_entity=rule(condition)), "condition-value-types") == []


def test_a_user_property_that_cannot_be_read_blocks_what_reads_it() -> None:
    condition = rule('attribute="name" operator="eq" value="@user.gone"')
    bound = {"attribute": "name", "source": "user", "value": "gone"}
    written = {"attribute": "fax", "source": "expression", "value": "user.gone"}
    all_findings = findings(of_entity=condition, bindings=(bound, written))
    places = [field for field, _ in about(all_findings, "user-property-broken")]
    assert places == ["entity.row_rule.0", "bindings.name.value", "bindings.fax.value"]
    assert about(findings(bindings=({**bound, "value": "city"},)), "user-property-broken") == []


def issuer(type: str, *readable: str, enabled: bool = True) -> IssuerDefinition:
    return IssuerDefinition(
        name=type,
        issuer=f"https://{type}.example/",
        enabled=enabled,
        record=RecordDefinition(type=type),
        readable_claims=readable,
    )


CLAIMS_RULE = "caller-type-claims"
BOTH = AccessDefinition(caller_types=("contact", "user"))


def claim(path: str) -> str:
    return rule(f'attribute="name" operator="eq" value="@user.claims.{path}"')


def test_a_claim_that_no_issuer_of_an_admitted_type_gives_is_found() -> None:
    [(place, message)] = about(
        findings(of_entity=claim("tier"), access=BOTH, issuers=(issuer("contact", "tier"),)), CLAIMS_RULE
    )
    assert place == "entity.row_rule.0"
    assert "type “user” have no claim @user.claims.tier" in message
    both = (issuer("contact", "tier"), issuer("user", "other", "tier"))
    assert about(findings(of_entity=claim("tier"), access=BOTH, issuers=both), CLAIMS_RULE) == []
    off = (issuer("contact", "tier"), issuer("user", "tier", enabled=False))
    assert len(about(findings(of_entity=claim("tier"), access=BOTH, issuers=off), CLAIMS_RULE)) == 1


@pytest.mark.parametrize(
    ("readable", "read", "is_found"),
    [
        ("realm_access", "realm_access.level", False),
        ("realm_access.level", "realm_access", True),
        ("realm_access.level", "realm_access.roles", True),
        ("emails[0]", "emails[1]", False),
        ("https://x.example/tier", "&quot;https://x.example/tier&quot;", False),
    ],
)
def test_a_part_of_what_an_issuer_gives_is_given(readable: str, read: str, is_found: bool) -> None:
    access = AccessDefinition(caller_types=("contact",))
    all_findings = findings(row_rule=claim(read), access=access, issuers=(issuer("contact", readable),))
    assert bool(about(all_findings, CLAIMS_RULE)) == is_found


def test_a_resolver_of_a_package_says_itself_which_claims_there_are(settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "USER_RESOLVER": "example"}
    assert about(findings(row_rule=claim("tier")), CLAIMS_RULE) == []


def test_a_claim_is_nobodys_where_anyone_may_call() -> None:
    anyone = AccessDefinition(authentication_required=False)
    assert about(findings(row_rule=claim("tier"), access=anyone), "row-rule-anonymous")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ('attribute="name" operator="eq" value="@user.roles"', "@user.roles is a list"),
        ('attribute="name" operator="like" value="@user.roles"', "@user.roles is a list"),
        ('attribute="primarycontactid" operator="eq" value="@user.type"', "can never be compared"),
        ('attribute="revenue" operator="in"><value>@user.roles</value></condition', "can never be compared"),
    ],
)
def test_a_wrong_use_of_type_and_roles_is_found(condition: str, message: str) -> None:
    text = f"<filter><condition {condition}{'>' if 'condition' in condition else '/>'}</filter>"
    [(place, said)] = about(findings(row_rule=text), "condition-value-types")
    assert (place, message in said) == ("row_rule", True)


@pytest.mark.parametrize(
    "condition",
    [
        '<condition attribute="name" operator="eq" value="@user.type"/>',
        '<condition attribute="name" operator="in"><value>@user.roles</value></condition>',
        '<condition attribute="revenue" operator="ge" value="@user.claims.tier"/>',
    ],
)
def test_type_roles_and_claims_need_no_user_property(condition: str) -> None:
    access = AccessDefinition(caller_types=("contact",))
    all_findings = findings(
        of_entity=f"<filter>{condition}</filter>", access=access, issuers=(issuer("contact", "tier"),)
    )
    assert [one for one in all_findings if (one.field or "").startswith("entity.row_rule")] == []


NAME = InputDefinition(name="name", required=True)


@pytest.mark.parametrize(
    "good",
    [
        {"of_entity": rule('attribute="ownerid" operator="eq-userid"')},
        {"of_entity": rule('attribute="address1_city" operator="eq" value="@user.city"')},
        {"row_rule": rule('attribute="name" operator="eq" value="@name"'), "inputs": (NAME,)},
        {
            "fetchers": (fetcher("a"), fetcher("b", 'attribute="name" operator="eq" value="@fetch.a.name"')),
            "row_rule": rule('attribute="name" operator="ne" value="@fetch.b.name"'),
        },
        {"fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@record.name"'),)},
    ],
)
def test_what_is_right_is_left_in_peace(good: dict[str, Any]) -> None:
    rules = {finding.rule for finding in findings(**good)}
    assert not {name for name in rules if name.startswith(("row-rule", "fetcher"))}


@pytest.mark.parametrize(
    ("wrong", "rule_id", "field", "words"),
    [
        ({"row_rule": rule('attribute="colour" operator="null"')}, "row-rule", "row_rule", "colour"),
        (
            {"of_entity": rule('attribute="revenue" operator="eq" value="much"')},
            "row-rule",
            "entity.row_rule.0",
            "'much' is not a number",
        ),
        (
            {"of_entity": rule('attribute="name" operator="eq" value="@name"')},
            "row-rule-values",
            "entity.row_rule.0",
            "only @user values",
        ),
        (
            {
                "row_rule": rule('attribute="name" operator="eq" value="@name"'),
                "inputs": (InputDefinition(name="name"),),
            },
            "row-rule-values",
            "row_rule.name",
            "this input must be required",
        ),
        (
            {"row_rule": rule('attribute="name" operator="eq" value="@fetch.a.name"')},
            "row-rule-values",
            "row_rule",
            "no data fetcher “a”",
        ),
        (
            {"row_rule": rule('attribute="name" operator="eq" value="@user.shoe"')},
            "row-rule-values",
            "row_rule",
            "no user property “shoe”",
        ),
        (
            {"row_rule": rule('attribute="name" operator="eq" value="@record.name"')},
            "row-rule-values",
            "row_rule",
            "@record",
        ),
        (
            {
                "row_rule": rule('attribute="ownerid" operator="eq-userid"'),
                "access": AccessDefinition(authentication_required=False),
            },
            "row-rule-anonymous",
            "row_rule",
            "anyone may call",
        ),
        (
            {"kind": "local-option-set", "row_rule": rule('attribute="name" operator="null"')},
            "row-rule-without-effect",
            "row_rule",
            "no effect",
        ),
        (
            {"kind": "create", "row_rule": rule('attribute="colour" operator="null"')},
            "row-rule",
            "row_rule",
            "colour",
        ),
        (
            {"kind": "create", "of_entity": rule('attribute="telephone1" operator="not-null"')},
            "create-never-inside",
            "bindings",
            "which nothing sets. Bind “telephone1”, change the rule, or switch “May create outside its rule” "
            "on.",
        ),
        (
            # The name is set, and only the platform compares it with a pattern: binding it would not help.
            {
                "kind": "create",
                "of_entity": rule('attribute="name" operator="like" value="A%"'),
                "inputs": ({"name": "name"},),
                "bindings": ({"attribute": "name", "value": "name"},),
            },
            "create-never-inside",
            "bindings",
            "when the record is there. Change what the rule says of “name”, or switch “May create outside "
            "its rule” on.",
        ),
        (
            {"kind": "create", "row_rule": rule('attribute="createdon" operator="today"')},
            "create-never-inside",
            "bindings",
            "“createdon” is known only when the record is there",
        ),
        (
            {
                "kind": "create",
                "row_rule": '<filter type="or"><condition attribute="createdon" operator="today"/>'
                '<condition attribute="telephone1" operator="null"/></filter>',
            },
            "create-undecidable",
            "bindings",
            "“createdon” is known only when the record is there",
        ),
        (
            {
                "kind": "create",
                "of_entity": rule('attribute="ownerid" operator="eq-userid"'),
                "settings": {"may_create_outside_rule": True},
            },
            "create-outside-rule",
            "settings.may_create_outside_rule",
            "outside the row rule",
        ),
        (
            {
                "kind": "create",
                "of_entity": rule('attribute="createdon" operator="today"'),
                "settings": {"may_create_outside_rule": True},
            },
            "create-outside-rule",
            "settings.may_create_outside_rule",
            "bind “createdon” or change the rule",
        ),
        (
            {"fetchers": (FetcherDefinition(name="a"),)},
            "fetcher-query",
            "fetchers.a.query",
            "Write the query",
        ),
        (
            {"fetchers": (fetcher("a", 'attribute="colour" operator="null"'),)},
            "fetcher-query",
            "fetchers.a.query",
            "colour",
        ),
        (
            {"fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@nothing"'),)},
            "fetcher-values",
            "fetchers.a.query.nothing",
            "@nothing",
        ),
        (
            {
                "fetchers": (
                    fetcher("a", 'attribute="name" operator="eq" value="@fetch.b.name"'),
                    fetcher("b"),
                )
            },
            "fetcher-values",
            "fetchers.a.query",
            "no data fetcher “b” before it",
        ),
        (
            {"fetchers": (fetcher("a"), fetcher("b", 'attribute="name" operator="eq" value="@fetch.a.x"'))},
            "fetcher-values",
            "fetchers.b.query",
            "It has: name",
        ),
        (
            {
                "kind": "create",
                "fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@record.name"'),),
            },
            "fetcher-values",
            "fetchers.a.query",
            "no record in the path",
        ),
        (
            {"fetchers": (fetcher("a", 'attribute="name" operator="eq" value="@record.colour"'),)},
            "fetcher-values",
            "fetchers.a.query",
            "@record.colour",
        ),
    ],
)
def test_what_is_wrong_is_found_at_its_place(
    wrong: dict[str, Any], rule_id: str, field: str, words: str
) -> None:
    [(place, message)] = about(findings(**wrong), rule_id)
    assert place == field
    assert words in message


MINE = rule('attribute="ownerid" operator="eq-userid"')
ANYONE = AccessDefinition(authentication_required=False)


@pytest.mark.parametrize(
    ("of_entity", "access", "rule_id", "words"),
    [
        (
            rule('attribute="name" operator="eq" value="@user.city"'),
            BOTH,
            "caller-type-properties",
            "The row rule of shop.accounts: Callers of the type “contact” lack @user.city",
        ),
        (
            claim("tier"),
            AccessDefinition(caller_types=("user",)),
            CLAIMS_RULE,
            "The row rule of shop.accounts: Callers of the type “user” have no claim @user.claims.tier",
        ),
        (MINE, BOTH, "caller-type-no-users", "The row rule of shop.accounts: The query compares"),
        (
            [{"roles": ["a"], "filter": rule('attribute="name" operator="eq" value="@user.gone"')}],
            AccessDefinition(roles=("a",)),
            "user-property-broken",
            "The row rule of shop.accounts for a: The user property “gone”",
        ),
        (
            rule('attribute="revenue" operator="eq" value="@user.unit"'),
            AccessDefinition(),
            "condition-value-types",
            "The row rule of shop.accounts: “revenue”",
        ),
        (
            MINE,
            ANYONE,
            "row-rule-anonymous",
            "The row rule of shop.accounts compares with the caller, but anyone may call: callers without a "
            "token find no records of account by it.",
        ),
        (
            [{"roles": ["a"], "filter": MINE}],
            AccessDefinition(roles=("a", "b")),
            "row-rule-reaches-nothing",
            "role “b” alone find no records of account by the query: the row rule of shop.accounts has no",
        ),
        (
            [{"roles": ["a"], "filter": MINE}],
            ANYONE,
            "row-rule-reaches-nothing",
            "Anyone may call, but the row rule of shop.accounts has no entry for everyone",
        ),
    ],
)
@pytest.mark.parametrize("by", ["itself", "link", "fetcher"])
def test_row_rules_of_what_a_query_reads_are_judged_like_an_entitys_own(
    of_entity: Any, access: AccessDefinition, rule_id: str, words: str, by: str
) -> None:
    all_findings = of_query(
        of_entity=of_entity, access=access, by_fetcher=by == "fetcher", linked=by == "link"
    )
    [(place, message)] = about(all_findings, rule_id)
    assert place == ("fetchers.a.query" if by == "fetcher" else "settings.query")
    assert words in message


def test_what_is_right_in_a_row_rule_of_what_a_query_reads_is_left_in_peace() -> None:
    users = AccessDefinition(caller_types=("user",), roles=("a",))
    entries = [{"roles": ["a"], "filter": MINE}, {"roles": ["b"], "all_records": True}]
    rules = {finding.rule for finding in of_query(of_entity=entries, access=users)}
    assert not {name for name in rules if name.startswith(("row-rule", "caller-type", "condition"))}


@pytest.mark.parametrize(
    ("entries", "access", "words"),
    [
        ([{"roles": ["a"], "filter": MINE}], {"roles": ["a"]}, []),
        ([{"roles": ["a"], "filter": MINE}], {"roles": ["a", "b"]}, ["“b” alone reach no records"]),
        ([{"roles": ["a"], "filter": MINE}, {"all_records": True}], {"roles": ["b"]}, []),
        ([{"roles": ["a"], "filter": MINE}], {"authentication_required": False}, ["no entry for everyone"]),
        ([], {"roles": ["b"]}, []),
    ],
)
def test_callers_that_no_entry_is_for_are_named(entries: Any, access: Any, words: list[str]) -> None:
    messages = about(
        findings(of_entity=entries, access=AccessDefinition(**access)), "row-rule-reaches-nothing"
    )
    assert [place for place, _ in messages] == ["entity.row_rule"] * len(words)
    assert all(word in message for word, (_, message) in zip(words, messages, strict=True))


def test_what_is_wrong_in_one_entry_is_found_at_it_and_names_its_roles() -> None:
    entries = [
        {"roles": ["b"], "filter": rule('attribute="colour" operator="null"')},
        {"roles": ["a"], "filter": MINE},
    ]
    [(place, message)] = about(findings(of_entity=entries), "row-rule")
    assert place == "entity.row_rule.1"
    assert message.startswith("The entity's row rule for b: ")


def test_a_create_is_judged_by_what_any_entry_lets_in() -> None:
    """A caller may have the roles of any of them."""
    never = rule('attribute="accountid" operator="eq" value="00000000-0000-4000-8000-000000000000"')
    blocked = findings(kind="create", of_entity=[{"roles": ["a"], "filter": never}])
    assert about(blocked, "create-never-inside")
    decided = findings(
        kind="create", of_entity=[{"roles": ["a"], "filter": never}, {"roles": ["b"], "all_records": True}]
    )
    assert not about(decided, "create-never-inside")
    late = rule('attribute="createdon" operator="today"')
    asked = findings(
        kind="create", of_entity=[{"roles": ["a"], "filter": late}, {"roles": ["b"], "filter": MINE}]
    )
    assert about(asked, "create-undecidable")
    assert not about(asked, "create-never-inside")


@pytest.mark.parametrize("wrong", ["acount", "nme"])
def test_a_fetcher_with_an_unknown_name_is_one_problem(wrong: str) -> None:
    right, instead = ("account", wrong) if wrong == "acount" else ('name="name"', 'name="nme" alias="name"')
    query = ACCOUNT.format("").replace(right, instead)
    found = findings(
        fetchers=(
            FetcherDefinition.model_validate({"name": "a", "query": query}),
            fetcher("b", 'attribute="name" operator="eq" value="@fetch.a.name"'),
        ),
        row_rule=rule('attribute="name" operator="eq" value="@fetch.a.name"'),
        bindings=(
            {"attribute": "fax", "source": "fetch", "value": "a.name"},
            {"attribute": "telephone2", "source": "expression", "value": "fetch.a.name"},
        ),
        preconditions=({"expression": "fetch.a.name == '1'", "message": "No."},),
    )
    assert [(finding.rule, finding.field) for finding in found if finding.is_blocking] == [
        ("fetcher-query", "fetchers.a.query")
    ]

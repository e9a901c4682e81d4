"""“Try it” and “Run” as callers of other types than users of the platform."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import RITA_REP
from crmclient import Reference, Value
from designer.access_control.groups import for_real
from designer.models import AuditEntry, Endpoint, Issuer, Module, UserProperty
from designer.platform import get_platform
from designer.studio.trying.query_costs import Cost
from tests.designer.studio import change_url, page
from tests.runtime.accounts import NOBODY, endpoint

pytestmark = pytest.mark.usefixtures("portico")

CONTACTS_OWN = "<filter><condition attribute='accountid' operator='eq' value='@user.employer'/></filter>"


def _property_of_claim(type: str) -> None:
    values = {"kind": "custom", "expression": "has(user.claims.company) ? user.claims.company : null"}
    UserProperty.objects.create(caller_type_id=type, name="claimed", **values)


@pytest.fixture
def company() -> str:
    """The id of an account, in whose place contacts read nothing but it."""
    UserProperty.objects.create(caller_type_id="contact", name="employer", attribute="parentcustomerid")
    return get_platform().create("account", {"name": "Northwind"}).id


@pytest.fixture
def contact(company: str) -> str:
    """The id of a contact of that company."""
    values: dict[str, Value] = {
        "firstname": "Cara",
        "lastname": "Customer",
        "parentcustomerid": Reference("account", company),
    }
    return get_platform().create("contact", values).id


def _admitting(kind: str, *types: str, **values: Any) -> Endpoint:
    row = endpoint(kind)
    Endpoint.objects.filter(pk=row.pk).update(caller_types=list(types), **values)
    row.roles.clear()
    row.refresh_from_db()
    return row


def _url(row: Endpoint) -> str:
    return reverse("admin:designer_endpoint_try", args=[row.pk])


def _try(client: Client, row: Endpoint, **data: Any) -> Any:
    token = page(client, _url(row)).context["token"]
    sent = {"caller": "token", "mode": "dry", "_call": token, **data}
    answer = client.post(_url(row), sent, follow=True)
    assert answer.status_code == 200
    return answer


def _fields(client: Client, row: Endpoint) -> dict[str, Any]:
    fields: dict[str, Any] = page(client, _url(row)).context["form"].fields
    return fields


def test_where_users_alone_are_admitted_no_type_is_asked_for(dora: Client) -> None:
    asked = set(_fields(dora, _admitting("create", "user")))
    assert "user" in asked
    assert not {"caller_type", "caller_record"} & asked


@pytest.mark.parametrize(
    ("admitted", "offered", "asked"),
    [
        (["contact"], ["contact"], {"caller_record"}),
        (["contact", "service", "user"], ["user", "contact", "service"], {"user", "caller_record"}),
        (["service"], ["service"], set()),
        (["service", "user"], ["user", "service"], {"user"}),
    ],
)
def test_the_types_that_the_endpoint_admits_are_offered(
    dora: Client, admitted: list[str], offered: list[str], asked: set[str]
) -> None:
    fields = _fields(dora, _admitting("create", *admitted))
    assert [name for name, _ in fields["caller_type"].choices] == offered
    assert {"user", "caller_record"} & set(fields) == asked


def test_where_anyone_may_call_the_types_in_use_are_offered(dora: Client) -> None:
    Endpoint.objects.update(caller_types=["user"])
    public = _admitting("read", "user", authentication_required=False)
    assert "caller_type" not in _fields(dora, public)
    _admitting("create", "contact")
    assert [name for name, _ in _fields(dora, public)["caller_type"].choices] == ["user", "contact"]


@pytest.mark.parametrize("mode", ["dry", "real"])
def test_a_call_is_the_contacts(dora: Client, company: str, contact: str, mode: str) -> None:
    row = _admitting("read", "contact", "user", row_rule=CONTACTS_OWN)
    as_contact = {"caller_type": "contact", "caller_record": contact, "mode": mode}
    own = _try(dora, row, record=company, **as_contact).context["outcome"]
    assert own.status == (0 if mode == "dry" else 200), own
    other = get_platform().create("account", {"name": "Other"}).id
    assert _try(dora, row, record=other, **as_contact).context["outcome"].status == 404
    # A platform user that was chosen before the type counts for nothing.
    assert (
        _try(dora, row, record=company, user=RITA_REP, **as_contact).context["outcome"].status == own.status
    )


def test_what_a_user_calls_is_not_a_contacts(dora: Client, company: str, contact: str) -> None:
    row = _admitting("read", "contact", "user", row_rule=CONTACTS_OWN)
    outcome = _try(
        dora, row, record=company, caller_type="user", user=RITA_REP, caller_record=contact, mode="real"
    )
    assert outcome.context["outcome"].status == 404


def test_a_type_with_roles_needs_one_and_the_trace_tells_of_both(dora: Client, contact: str) -> None:
    row = _admitting("create", "contact")
    row.roles.add(*_roles("sales-rep"))
    given = {"caller_record": contact, "body__name": "Contoso"}
    refused = _try(dora, row, **given).context["outcome"]
    assert refused.status == 403
    verdicts = {step.title: step.verdict for step in refused.steps}
    assert (verdicts["Caller type"], verdicts["Roles"]) == ("passed", "refused")
    passed = _try(dora, row, roles=["sales-rep"], **given).context["outcome"]
    assert (passed.status, {step.verdict for step in passed.steps[:3]}) == (0, {"passed"})


def _roles(*names: str) -> Any:
    return endpoint("create").roles.model.objects.filter(name__in=names)


def test_a_service_stands_for_no_record(dora: Client, contact: str) -> None:
    row = _admitting("create", "service", "contact")
    given = {"caller_type": "service", "caller_record": contact, "body__name": "Contoso", "mode": "real"}
    assert _try(dora, row, **given).context["outcome"].status == 200
    noted = AuditEntry.objects.filter(action=AuditEntry.Action.TRY).latest("id")
    assert contact not in noted.detail


@pytest.mark.parametrize("given", [NOBODY, "cara"])
def test_a_record_that_is_not_there_is_named_at_its_field(dora: Client, contact: str, given: str) -> None:
    answer = _try(dora, _admitting("create", "contact"), caller_record=given, body__name="Contoso")
    assert answer.context["outcome"] is None
    assert list(answer.context["form"].errors) == ["caller_record"]


def test_a_type_that_is_not_admitted_is_not_offered(dora: Client) -> None:
    answer = _try(dora, _admitting("create", "contact", "user"), caller_type="service", body__name="A")
    assert answer.context["outcome"] is None
    assert list(answer.context["form"].errors) == ["caller_type"]


def test_a_contacts_real_call_is_one_write_with_its_choices_kept_and_noted(
    dora: Client, contact: str
) -> None:
    row = _admitting("create", "contact", "user")
    token = page(dora, _url(row)).context["token"]
    sent = {
        "caller": "token",
        "caller_type": "contact",
        "caller_record": contact,
        "mode": "real",
        "_call": token,
        "body__name": "Once",
    }
    first = dora.post(_url(row), sent)
    again = dora.post(_url(row), sent, follow=True)
    assert again.redirect_chain[-1][0] == first["Location"]
    form = again.context["form"]
    assert (form["caller_type"].value(), form["caller_record"].value()) == ("contact", contact)
    (noted,) = AuditEntry.objects.filter(action=AuditEntry.Action.TRY)
    assert f"contact {contact}" in noted.detail


def test_a_contacts_call_for_real_needs_the_right(dora: Client, contact: str) -> None:
    designer = User.objects.get(username="designer")
    designer.groups.clear()
    designer.user_permissions.set(
        Permission.objects.filter(content_type__app_label="designer").exclude(codename="call_for_real")
    )
    row = _admitting("create", "contact")
    answer = _try(dora, row, caller_record=contact, mode="real", body__name="A")
    assert answer.context["outcome"] is None
    assert "mode" in answer.context["form"].errors


def test_a_query_runs_as_a_contact(dora: Client, company: str, contact: str) -> None:
    User.objects.get(username="designer").user_permissions.add(*for_real())
    row = Endpoint.objects.filter(kind="paginated-query", module__segment="sales").earliest("id")
    Endpoint.objects.filter(pk=row.pk).update(caller_types=["contact"], row_rule=CONTACTS_OWN)
    row.roles.clear()
    url = reverse("admin:designer_endpoint_run", args=[row.pk])
    assert "caller_record" in dora.post(url).context["form"].fields
    answer = dora.post(url, {"run": "1", "caller_record": contact})
    assert answer.context["outcome"].status == 200, answer.context["outcome"]
    assert ["Northwind" in row for row in answer.context["rows"]] == [True]
    noted = AuditEntry.objects.filter(action=AuditEntry.Action.RUN).latest("id")
    assert f"contact {contact}" in noted.detail


def test_a_query_that_ran_says_what_it_costs_and_which_index_would_help(dora: Client) -> None:
    User.objects.get(username="designer").user_permissions.add(*for_real())
    query = (
        '<fetch><entity name="account"><attribute name="name"/><order attribute="name"/><filter>'
        '<condition attribute="name" operator="like" value="%a%"/>'
        '<condition attribute="primarycontactid" operator="not-null"/>'
        '<condition attribute="telephone1" operator="gt" value="+"/></filter></entity></fetch>'
    )
    module = Module.objects.get(segment="sales")
    row = Endpoint.objects.create(kind="multi-query", module=module, name="costs", settings={"query": query})
    answer = dora.post(reverse("admin:designer_endpoint_run", args=[row.pk]), {"run": "1", "user": RITA_REP})
    costs = {cost.part: cost.command for cost in answer.context["costs"]}
    assert costs == {
        "account.name like": "manage.py crmindex account name --contains",
        "account.primarycontactid not-null": "",
        "account.telephone1 gt": "manage.py crmindex account telephone1",
        "account.name sorted": "",
    }
    assert "the platform reads every record, about" in answer.content.decode()


_HELPS = "an index finds the records"
_HELPS_NOT = "the platform reads every record, about "


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ('<condition attribute="ownerid" operator="eq-userid"/>', _HELPS),
        ('<condition attribute="ownerid" operator="ne-userid"/>', _HELPS_NOT),
        ('<condition attribute="owningbusinessunit" operator="ne-businessid"/>', _HELPS_NOT),
        (
            f'<condition attribute="parentaccountid" operator="under" value="{NOBODY}"/>',
            _HELPS,
        ),
        (f'<condition attribute="parentaccountid" operator="not-under" value="{NOBODY}"/>', _HELPS_NOT),
        (
            '<condition attribute="createdon" operator="on-or-after" value="2026-01-01"/>',
            _HELPS,
        ),
        ('<condition attribute="createdon" operator="eq" valueof="modifiedon"/>', _HELPS_NOT),
    ],
)
def test_a_condition_that_no_index_serves_is_not_said_to_be_served(
    dora: Client, condition: str, words: str
) -> None:
    [cost] = _costs(dora, "account", f"<filter>{condition}</filter>")
    assert cost.words.startswith(words)
    assert not cost.command


def test_of_an_entity_that_shows_records_of_others_no_costs_are_told(dora: Client) -> None:
    conditions = (
        '<condition attribute="subject" operator="eq" value="a"/>'
        f'<condition attribute="activityid" operator="eq" value="{NOBODY}"/>'
    )
    order = '<order attribute="createdon"/>'
    assert _costs(dora, "activitypointer", f"<filter>{conditions}</filter>{order}") == []


# SQLite counts by the highest row number.
@pytest.mark.sqlite
@pytest.mark.parametrize(("language", "count"), [("en", "2,500"), ("de", "2.500")])
def test_the_number_of_records_is_written_as_the_language_writes_it(
    dora: Client, language: str, count: str
) -> None:
    get_platform().create("account", {"name": "Northwind"})
    with connection.cursor() as cursor:
        cursor.execute("UPDATE e_account SET rowid = 2500 WHERE rowid = (SELECT MAX(rowid) FROM e_account)")
    [cost] = _costs(dora, "account", '<order attribute="telephone1"/>', language)
    assert count in cost.words


def _costs(dora: Client, entity: str, content: str, language: str = "en") -> list[Cost]:
    """Run a query, and return what its page says of the costs."""
    User.objects.get(username="designer").user_permissions.add(*for_real())
    query = f'<fetch><entity name="{entity}"><attribute name="createdon"/>{content}</entity></fetch>'
    module = Module.objects.get(segment="sales")
    row = Endpoint.objects.create(kind="multi-query", module=module, name="costs", settings={"query": query})
    url = reverse("admin:designer_endpoint_run", args=[row.pk])
    body = {"run": "1", "user": RITA_REP}
    costs: list[Cost] = dora.post(url, body, headers={"accept-language": language}).context["costs"]
    return costs


@pytest.mark.parametrize("value", ["@user.claimed", "@user.claims.company"])
def test_claims_are_asked_for_where_an_issuer_lets_expressions_read_them(
    dora: Client, company: str, contact: str, value: str
) -> None:
    _property_of_claim("contact")
    User.objects.get(username="designer").user_permissions.add(*for_real())
    row = _admitting("read", "contact", row_rule=CONTACTS_OWN.replace("@user.employer", value))
    assert "claims" not in _fields(dora, row)
    issuer = Issuer.objects.create(name="Customers", issuer="https://customers.example", audiences=["api"])
    assert "claims" not in _fields(dora, row)
    Issuer.objects.filter(pk=issuer.pk).update(readable_claims=["company", "org.tier"])
    assert "company, org.tier" in str(_fields(dora, row)["claims"].help_text)

    def tried(claims: str) -> Any:
        who = {"caller_type": "contact", "caller_record": contact, "claims": claims}
        return _try(dora, row, record=company, mode="real", **who)

    assert tried(json.dumps({"company": company})).context["outcome"].status == 200
    assert tried(json.dumps({"company": NOBODY})).context["outcome"].status == 404
    assert tried("").context["outcome"].status == 404
    assert "Write a JSON object" in str(tried('["company"]').context["form"].errors["claims"])
    assert tried("{company").context["form"].errors["claims"]
    digits, deep = "1" * 5000, "[" * 3000 + "]" * 3000
    for odd in (digits, deep, "NaN", "Infinity", "1e999", r'"\u0000"', r'{"\u0000": 1}', r'"\ud800"'):
        assert "JSON" in str(tried(f'{{"company": {odd}}}').context["form"].errors["claims"])


@pytest.mark.parametrize("value", ["@user.claimed", "@user.claims.company"])
def test_a_query_runs_with_claims(dora: Client, company: str, value: str) -> None:
    User.objects.get(username="designer").user_permissions.add(*for_real())
    values = {"audiences": ["api"], "readable_claims": ["company"]}
    Issuer.objects.create(name="Customers", issuer="https://customers.example", **values)
    row = Endpoint.objects.filter(kind="paginated-query", module__segment="sales").earliest("id")
    _property_of_claim("user")
    Endpoint.objects.filter(pk=row.pk).update(row_rule=CONTACTS_OWN.replace("@user.employer", value))
    url = reverse("admin:designer_endpoint_run", args=[row.pk])
    answer = dora.post(url, {"run": "1", "user": RITA_REP, "claims": json.dumps({"company": company})})
    assert ["Northwind" in row for row in answer.context["rows"]] == [True]
    assert not dora.post(url, {"run": "1", "user": RITA_REP}).context["rows"]


def test_who_may_only_look_reads_which_types_are_admitted(dora: Client) -> None:
    row = _admitting("create", "contact", "user")
    option_set = Endpoint.objects.filter(kind="option-set").earliest("id")
    viewer = User.objects.create_user("vera", is_staff=True)
    viewer.user_permissions.add(*Permission.objects.filter(codename__in=["view_endpoint", "view_optionset"]))
    client = Client()
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    assert "Contact (contact), User (user)" in page(client, change_url(row)).content.decode()
    url = reverse("admin:designer_optionset_change", args=[option_set.pk])
    assert "Callers of every type" in page(client, url).content.decode()

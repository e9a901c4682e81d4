"""Callers of other types than users of the platform: who they are, what they read, what admits them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from crmbox.demo import people
from crmclient import Reference
from designer.documents.document_writer import export, to_bytes
from designer.history.recording import Author, Origin
from designer.imports.document_import import import_document
from designer.loading import load
from designer.models import CallerType, Endpoint, RelatedColumn, Role, UserProperty
from designer.platform import get_platform
from runtime.callers.caller import Identity
from runtime.models import ApiAccount
from tests.callers import PASSWORD, Caller, account

pytestmark = pytest.mark.usefixtures("portico")

ACCOUNTS = "/api/sales/accounts"
OWN_ACCOUNTS = '<filter><condition attribute="primarycontactid" operator="eq" value="@user.id"/></filter>'


@pytest.fixture(autouse=True)
def _no_properties_of_contacts(portico: None) -> None:
    """Those of the demo's portal are not what these tests are about."""
    UserProperty.objects.filter(caller_type__name="contact").delete()


def _caller(type: str, record: str | None = None, *roles: str) -> Caller:
    user = get_user_model().objects.create_user(f"a-{type}", password=PASSWORD)
    made = ApiAccount.objects.create(user=user, caller_type_id=type, record=record)
    made.roles.set(Role.objects.filter(name__in=roles))
    return account(f"a-{type}")


def _a_contact(**values: Any) -> str:
    parent = Reference("account", get_platform().create("account", {"name": "Northwind"}).id)
    return (
        get_platform()
        .create(
            "contact",
            {
                "firstname": "Cara",
                "lastname": "Customer",
                "emailaddress1": "cara@northwind.example",
                "parentcustomerid": parent,
                **values,
            },
        )
        .id
    )


def _property(type: str, name: str, **values: Any) -> UserProperty:
    return UserProperty.objects.create(caller_type_id=type, name=name, **values)


def _admit(*types: str, kind: str = "create") -> Endpoint:
    row = Endpoint.objects.get(kind=kind, entity__segment="accounts", entity__module__segment="sales")
    row.caller_types = list(types)
    row.save()
    return row


def test_a_contact_is_told_the_properties_of_contacts() -> None:
    _property("contact", "FullName", attribute="fullname")
    _property("contact", "who", kind="custom", expression="user.type + ' ' + user.FullName")
    contact = _caller("contact", _a_contact())
    answer = contact.get("/api/context")
    assert answer.status_code == 200, answer.content
    assert answer.json() == {"user": {"fullName": "Cara Customer", "who": "contact Cara Customer"}}


def test_the_id_of_a_callers_record_needs_no_property() -> None:
    UserProperty.objects.filter(name="id").delete()
    cara, other = _a_contact(), _a_contact()
    mine = get_platform().create(
        "account", {"name": "Cara's", "primarycontactid": Reference("contact", cara)}
    )
    others = get_platform().create(
        "account", {"name": "Other's", "primarycontactid": Reference("contact", other)}
    )
    document = json.loads(to_bytes(export(load(), "sales")))
    [accounts] = [one for one in document["entities"] if one["segment"] == "accounts"]
    accounts["row_rule"] = [{"filter": OWN_ACCOUNTS}]
    for endpoint in document["endpoints"]:
        if (endpoint["kind"], endpoint.get("exposure")) in {("create", "accounts"), ("read", "accounts")}:
            endpoint["access"] = {"caller_types": ["contact"]}
        if (endpoint["kind"], endpoint.get("exposure")) == ("create", "accounts"):
            endpoint["inputs"] = [{"name": "name", "required": True, "max_length": 160}]
            endpoint["bindings"] = [
                {"attribute": "name", "value": "name"},
                {"attribute": "primarycontactid", "source": "user", "value": "id"},
            ]

    author = Author(origin=Origin.COMMAND, may_change_write_access=True)
    import_document(json.dumps(document).encode(), (), author)

    contact = _caller("contact", cara)
    made = contact.post(ACCOUNTS, {"name": "New"})
    assert made.status_code == 200, made.content
    seen = [contact.get(f"{ACCOUNTS}/{id}").status_code for id in (mine.id, made.json()["id"], others.id)]
    assert seen == [200, 200, 404]
    assert contact.get("/api/context").json() == {"user": {}}


def test_a_name_may_be_a_property_of_two_types(rita: Caller) -> None:
    _property("contact", "FullName", attribute="fullname")
    contact = _caller("contact", _a_contact())
    assert contact.get("/api/context").json() == {"user": {"fullName": "Cara Customer"}}
    assert rita.get("/api/context").json()["user"]["fullName"] == "Rita Rep"


def test_what_a_contact_points_at_is_read_with_it() -> None:
    company = _property("contact", "company", kind="related", relationship="contact_customer_accounts")
    RelatedColumn.objects.create(user_property=company, attribute="name")
    _property("contact", "Email", attribute="emailaddress1")
    contact = _caller("contact", _a_contact())
    answer = contact.get("/api/context")
    assert answer.status_code == 200, answer.content
    assert answer.json() == {"user": {"company": {"name": "Northwind"}, "email": "cara@northwind.example"}}


def test_a_service_has_custom_properties_alone() -> None:
    _property("service", "may", kind="custom", expression="'support' in user.roles")
    service = _caller("service", None, "support")
    assert service.get("/api/context").json() == {"user": {"may": True}}


@pytest.mark.parametrize("change", ["inactive", "deleted"])
def test_a_record_that_counts_no_more_is_403(change: str, a_minute_later: Callable[[], None]) -> None:
    record = _a_contact()
    contact = _caller("contact", record)
    assert contact.get("/api/context").json() == {"user": {}}
    if change == "inactive":
        get_platform().update("contact", record, {"statecode": 1})
    else:
        get_platform().delete("contact", record)
    a_minute_later()
    _admit("contact")
    for answer in (contact.get("/api/context"), contact.post(ACCOUNTS, {"name": "A"})):
        assert (answer.status_code, answer.json()["code"]) == (403, "no_record")


def test_a_contact_without_a_record_stays_a_contact() -> None:
    contact = _caller("contact", None, "sales-rep")
    answer = contact.get("/api/context")
    assert (answer.status_code, answer.json()["code"]) == (403, "no_record")
    refused = contact.post(ACCOUNTS, {"name": "Contoso"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    _admit("user", "contact")
    assert contact.post(ACCOUNTS, {"name": "Contoso"}).status_code != 403


def test_an_endpoint_refuses_other_types_as_it_refuses_other_roles(rita: Caller, aya: Caller) -> None:
    service = _caller("service", None, "sales-rep")
    wrong_role = aya.post(ACCOUNTS, {"name": "Contoso"})
    assert wrong_role.status_code == 403
    _admit("user")
    answer = service.post(ACCOUNTS, {"name": "Contoso"})
    assert (answer.status_code, answer.json()["code"]) == (403, wrong_role.json()["code"])
    assert rita.post(ACCOUNTS, {"name": "Contoso"}).status_code == 200


def test_a_caller_is_described_what_admits_its_type(rita: Caller) -> None:
    _admit("user")
    service = _caller("service", None, "sales-rep")
    assert "post" in rita.get("/api/openapi.json").json()["paths"][ACCOUNTS]
    assert "post" not in service.get("/api/openapi.json").json()["paths"].get(ACCOUNTS, {})


def test_the_context_is_described_for_each_type(rita: Caller) -> None:
    of_users = _described_context(rita)
    assert list(of_users["properties"]) == ["user"]
    _property("contact", "FullName", attribute="fullname")
    types = _described_context(rita)["properties"]["user"]["anyOf"]
    by_title = {one.pop("title"): one for one in types}
    assert by_title["Context of user"] == of_users["properties"]["user"]
    assert list(by_title["Context of contact"]["properties"]) == ["fullName"]


@pytest.mark.parametrize("name", ["type", "roles", "claims", "Roles"])
@pytest.mark.parametrize("attribute", ["fullname", "no_such_attribute"])
def test_a_reserved_name_is_no_part_of_the_context_or_its_description(
    rita: Caller, name: str, attribute: str
) -> None:
    before, described = rita.get("/api/context").json(), _described_context(rita)
    _property("user", name, attribute=attribute)
    assert rita.get("/api/context").json() == before
    assert _described_context(rita) == described
    _property("contact", name, attribute=attribute)
    assert _caller("contact", _a_contact()).get("/api/context").json() == {"user": {}}
    assert _described_context(rita) == described


def _described_context(caller: Caller) -> Any:
    document = caller.get("/api/openapi.json").json()
    operation = document["paths"]["/api/context"]["get"]
    name = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    return document["components"]["schemas"][name.rpartition("/")[2]]


def test_who_a_contact_is_costs_no_platform_call_within_a_minute(
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    _property("contact", "FullName", attribute="fullname")
    contact = _caller("contact", _a_contact())
    contact.get("/api/context")
    # The configuration's revision.
    with django_assert_num_queries(1):
        contact.get("/api/context")


def test_an_older_resolver_may_go_on_saying_platform_user() -> None:
    identity = Identity(platform_user=people.RITA_REP)
    assert (identity.type, identity.record, identity.platform_user) == (
        "user",
        people.RITA_REP,
        people.RITA_REP,
    )
    with pytest.raises(ValueError, match="contact"):
        Identity(type="contact", platform_user=people.RITA_REP)


def test_a_resolver_is_told_the_caller_types(settings: Any) -> None:
    _property("contact", "FullName", attribute="fullname")
    _property("contact", "tenant", kind="custom", expression="user.claims.org.tenant")
    record = _a_contact()
    settings.PORTICO = {**settings.PORTICO, "USER_RESOLVER": "tests.runtime.resolvers.customers"}
    user = get_user_model().objects.create_user("a-customer", password=PASSWORD, first_name=record)
    ApiAccount.objects.create(user=user)
    caller = account("a-customer")
    assert caller.get("/api/context").json() == {"user": {"fullName": "Cara Customer", "tenant": 7}}


def test_a_type_that_an_administrator_adds_has_callers_at_once() -> None:
    CallerType.objects.create(name="partner")
    assert _caller("partner").get("/api/context").json() == {"user": {}}

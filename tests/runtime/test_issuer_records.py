"""Which record a caller of an issuer is: found, refused, done without, linked or made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from designer.models import Binding, Endpoint, ExposedEntity, Input, Issuer, Module, Role
from designer.platform import get_platform
from runtime.callers import tokens
from runtime.callers.issuers.registration import Registration
from runtime.serving import served
from tests.callers import Caller
from tests.runtime.accounts import ACCOUNTS, NOBODY, endpoint
from tests.runtime.issuers import Provider, issuer_row
from tests.runtime.test_remembered_callers import CALLS

ADA = f"{ACCOUNTS}/{NOBODY}"


@pytest.fixture
def provider(portico: None, settings: Settings) -> Iterator[Provider]:
    settings.PORTICO = {**settings.PORTICO, "ISSUER_PRIVATE_HOSTS": ["127.0.0.1"]}
    read = endpoint("read")
    Endpoint.objects.filter(pk=read.pk).update(caller_types=["contact", "service", "user"])
    read.roles.clear()
    server = Provider()
    yield server
    server.stop()


@pytest.fixture
def counted(portico: None, settings: Any) -> Iterator[Counter[str]]:
    settings.PORTICO = {
        **settings.PORTICO,
        "PLATFORM": "tests.runtime.test_remembered_callers.CountingPlatform",
    }
    get_platform.cache_clear()
    served._served = None
    CALLS.clear()
    yield CALLS
    served._served = None
    get_platform.cache_clear()


def contact(**values: Any) -> str:
    return get_platform().create("contact", {"lastname": "Lovelace", **values}).id


def contacts(**values: Any) -> list[str]:
    """The ids of those with the values."""
    conditions = tuple(Condition(name, Operator.EQ, (value,)) for name, value in values.items())
    query = Query("contact", (Column("contactid"),), Filter(conditions))
    return [str(row["contactid"]) for row in get_platform().query(query).rows]


def of_contacts(provider: Provider, **changes: Any) -> Issuer:
    values = {
        "caller_type": "contact",
        "record_claim": "sub",
        "record_attribute": "department",
        **changes,
    }
    return issuer_row(provider, **values)


def answer(token: str) -> tuple[int, str]:
    """404 `not_found` where the caller is let in to look for a record that is not there."""
    response = Caller(token).get(ADA)
    return response.status_code, response.json()["code"]


LET_IN = (404, "not_found")
REFUSED = (403, "no_record")


def test_a_contact_is_found_by_the_claim(provider: Provider) -> None:
    of_contacts(provider)
    contact(department="ada")
    assert answer(provider.token()) == LET_IN
    assert answer(provider.token(sub="eve")) == REFUSED
    # Case counts unless the issuer says otherwise.
    assert answer(provider.token(sub="ADA")) == REFUSED


def test_case_may_be_ignored(provider: Provider) -> None:
    of_contacts(provider, record_ignore_case=True)
    contact(department="ada")
    assert answer(provider.token(sub="ADA")) == LET_IN


def test_an_employee_is_found_by_the_object_id_of_entra(provider: Provider) -> None:
    oid = "0c6a1111-2222-4333-8444-555566667777"
    issuer_row(provider, record_claim="oid", record_attribute="azureactivedirectoryobjectid")
    user = next(iter(get_platform().query(Query("systemuser", (Column("systemuserid"),))).rows))
    get_platform().update("systemuser", str(user["systemuserid"]), {"azureactivedirectoryobjectid": oid})
    context = Caller(provider.token(oid=oid.upper())).get("/api/context")
    assert context.status_code == 200
    assert context.json()["user"]["id"] == str(user["systemuserid"])
    assert (
        Caller(provider.token(sub="eve", oid=NOBODY)).get("/api/context").json()["code"] == "no_platform_user"
    )


def test_several_records_are_refused(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    of_contacts(provider)
    contact(department="ada")
    contact(department="ada")
    caplog.set_level("INFO")
    assert answer(provider.token()) == REFUSED
    assert [record.reason for record in caplog.records if hasattr(record, "reason")] == ["several_records"]


def test_an_inactive_record_is_refused(provider: Provider) -> None:
    of_contacts(provider)
    get_platform().update("contact", contact(department="ada"), {"statecode": 1})
    assert answer(provider.token()) == REFUSED


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"emails": ["ada@contoso.example"], "email_verified": True}, LET_IN),
        ({"emails": ["ada@contoso.example"], "email_verified": "true"}, LET_IN),
        ({"emails": ["ada@contoso.example"], "email_verified": False}, REFUSED),
        ({"emails": ["ada@contoso.example"]}, REFUSED),
        ({"emails": [], "email_verified": True}, REFUSED),
        ({"emails": "ada@contoso.example", "email_verified": True}, REFUSED),
    ],
    ids=repr,
)
def test_an_address_counts_only_where_it_is_verified(
    provider: Provider, claims: dict[str, Any], expected: Any
) -> None:
    changes = {"record_claim": "emails[0]", "record_attribute": "emailaddress1", "record_ignore_case": True}
    of_contacts(provider, record_verified="email_verified", **changes)
    contact(emailaddress1="ada@contoso.example")
    assert answer(provider.token(**claims)) == expected


def test_a_caller_may_go_on_without_a_record(provider: Provider) -> None:
    of_contacts(provider, record_missing="continue")
    assert answer(provider.token()) == LET_IN


def test_roles_may_depend_on_the_record(provider: Provider) -> None:
    endpoint("read").roles.add(Role.objects.get(name="sales-rep"))
    of_contacts(provider, roles_expression="record.jobtitle == 'Buyer' ? 'sales-rep' : ''")
    contact(department="ada", jobtitle="Buyer")
    contact(department="eve", jobtitle="Cook")
    assert answer(provider.token()) == LET_IN
    assert answer(provider.token(sub="eve")) == (403, "forbidden")


def test_a_second_request_within_the_minute_asks_the_platform_nothing(
    counted: Counter[str], provider: Provider, a_minute_later: Callable[[], None]
) -> None:
    of_contacts(provider)
    contact(department="ada")
    for _ in range(3):
        assert answer(provider.token()) == LET_IN
    # Another token of the same caller, whose claims say something else that nobody reads.
    assert answer(provider.token(nickname="countess")) == LET_IN
    assert counted["query contact"] == 1
    # Who has no record is asked for once, too.
    assert {answer(provider.token(sub="eve")) for _ in range(3)} == {REFUSED}
    assert counted["query contact"] == 2
    a_minute_later()
    assert answer(provider.token()) == LET_IN
    assert counted["query contact"] == 3


def registering(provider: Provider, **changes: Any) -> Issuer:
    """Contacts are made by an endpoint whose inputs are claims."""
    module = Module.objects.create(segment="partners")
    exposed = ExposedEntity.objects.create(module=module, segment="people", entity="contact")
    made = Endpoint.objects.create(kind="create", entity=exposed)
    for name, attribute in (("name", "lastname"), ("mail", "emailaddress1"), ("key", "department")):
        Input.objects.create(endpoint=made, name=name, required=name == "name")
        Binding.objects.create(endpoint=made, attribute=attribute, value=name)
    inputs = [
        {"input": "name", "claim": "family_name"},
        {"input": "mail", "claim": "email"},
        {"input": "key", "claim": "sub"},
    ]
    values = {
        "record_missing": "register",
        "registration_endpoint": "partners.people.create",
        "registration_inputs": inputs,
    }
    return of_contacts(provider, **{**values, **changes})


def test_a_caller_without_a_record_is_registered_once(provider: Provider) -> None:
    registering(provider)
    for _ in range(2):
        assert answer(provider.token(family_name="Lovelace", email="a@b.example")) == LET_IN
        tokens.forget()
    assert len(contacts(department="ada", lastname="Lovelace", emailaddress1="a@b.example")) == 1
    assert Registration.objects.get().done


def test_a_caller_whom_another_process_registers_meanwhile_is_let_in(provider: Provider) -> None:
    issuer = registering(provider)

    def overtaken(execute: Any, sql: str, *rest: Any) -> Any:
        """Another process registers Ada as soon as this one has seen that she is not registered."""
        outcome = execute(sql, *rest)
        if sql.startswith("SELECT") and "runtime_registration" in sql and not made:
            made.append(contact(lastname="Lovelace", department="ada"))
            values = {"issuer": issuer.issuer, "subject": "ada", "entity": "contact", "record": made[0]}
            Registration.objects.create(done=True, **values)
        return outcome

    made: list[str] = []
    with connection.execute_wrapper(overtaken):
        assert answer(provider.token(family_name="Lovelace")) == LET_IN
    assert contacts(department="ada") == made


def test_a_record_that_was_deleted_is_not_made_again(provider: Provider) -> None:
    registering(provider)
    assert answer(provider.token(family_name="Lovelace")) == LET_IN
    [made] = contacts(department="ada")
    get_platform().delete("contact", made)
    tokens.forget()
    assert answer(provider.token(family_name="Lovelace")) == REFUSED
    assert contacts(department="ada") == []


def test_a_registration_that_broke_off_goes_on_with_the_same_record(provider: Provider) -> None:
    row = registering(provider)
    chosen = "11111111-2222-4333-8444-555566667777"
    Registration.objects.create(issuer=row.issuer, subject="ada", entity="contact", record=chosen)
    assert answer(provider.token(family_name="Lovelace")) == LET_IN
    assert contacts(department="ada") == [chosen]


def test_claims_that_the_endpoint_refuses_register_nobody(provider: Provider) -> None:
    registering(provider)
    assert answer(provider.token()) == REFUSED
    assert contacts(department="ada") == []


VERIFIED_ADDRESS = {
    "record_claim": "email",
    "record_attribute": "emailaddress1",
    "record_verified": "email_verified",
}


def test_an_address_that_nobody_has_verified_registers_nobody(provider: Provider) -> None:
    """Its owner would be found by it, and be the same caller as the stranger."""
    registering(provider, **VERIFIED_ADDRESS)
    claims: dict[str, Any] = {"email": "ada@contoso.example", "family_name": "Lovelace"}
    assert answer(provider.token(sub="mallory", email_verified=False, **claims)) == REFUSED
    assert answer(provider.token(sub="mallory", **claims)) == REFUSED
    assert contacts(emailaddress1="ada@contoso.example") == []
    assert answer(provider.token(email_verified=True, **claims)) == LET_IN
    assert contacts(emailaddress1="ada@contoso.example") == [str(Registration.objects.get().record)]


def test_so_many_callers_register_within_an_hour(provider: Provider) -> None:
    registering(provider, registration_an_hour=2)
    answers = [answer(provider.token(sub=f"s{at}", family_name="Lovelace")) for at in range(4)]
    assert answers == [LET_IN, LET_IN, REFUSED, REFUSED]
    assert Registration.objects.count() == 2


LINKING = {"registration_link_claim": "email", "registration_link_attribute": "emailaddress1"}


def test_a_record_with_the_verified_address_is_linked(provider: Provider) -> None:
    registering(provider, **LINKING)
    record = contact(emailaddress1="Ada@contoso.example")
    claims: dict[str, Any] = {
        "email": "ada@contoso.example",
        "email_verified": True,
        "family_name": "Lovelace",
    }
    assert answer(provider.token(**claims)) == LET_IN
    assert contacts(department="ada") == [record]
    assert Registration.objects.get().linked


@pytest.mark.parametrize("claims", [{}, {"email_verified": False}, {"email_verified": "no"}], ids=repr)
def test_an_address_that_nobody_has_verified_links_nothing(
    provider: Provider, claims: dict[str, Any]
) -> None:
    registering(provider, **LINKING)
    record = contact(emailaddress1="ada@contoso.example")
    assert answer(provider.token(email="ada@contoso.example", family_name="Lovelace", **claims)) == LET_IN
    assert record not in contacts(department="ada")


def test_a_record_that_is_somebodys_is_not_linked(provider: Provider) -> None:
    registering(provider, **LINKING)
    record = contact(emailaddress1="ada@contoso.example", department="somebody")
    claims: dict[str, Any] = {
        "email": "ada@contoso.example",
        "email_verified": True,
        "family_name": "Lovelace",
    }
    assert answer(provider.token(**claims)) == LET_IN
    assert record not in contacts(department="ada")
    assert contacts(department="somebody") == [record]


def test_two_records_with_the_address_are_refused(provider: Provider) -> None:
    registering(provider, **LINKING)
    for _ in range(2):
        contact(emailaddress1="ada@contoso.example")
    claims: dict[str, Any] = {
        "email": "ada@contoso.example",
        "email_verified": True,
        "family_name": "Lovelace",
    }
    assert answer(provider.token(**claims)) == REFUSED


def test_with_several_tenants_no_record_is_linked(provider: Provider) -> None:
    template = f"{provider.address}/{{tenantid}}/v2.0"
    registering(provider, **LINKING, issuer=template, tenants=["t1", "t2"])
    provider.said_issuer = template
    record = contact(emailaddress1="ada@contoso.example")
    claims: dict[str, Any] = {
        "email": "ada@contoso.example",
        "email_verified": True,
        "family_name": "Lovelace",
    }
    assert answer(provider.token(iss=f"{provider.address}/t1/v2.0", **claims)) == LET_IN
    assert record not in contacts(department="ada")


def test_an_identity_read_by_expressions_is_that_of_the_listed_claims(provider: Provider) -> None:
    of_contacts(provider, record_missing="continue", readable_claims=["realm.roles", "level", "emails[0]"])
    text = provider.token(realm={"roles": ["a"], "secret": 1}, level=2, other=3, emails=["a@b.example"])
    assert Caller(text).get(ADA).status_code == 404
    recognition = served.current().recognition
    caller = tokens.authenticate(f"Bearer {text}", recognition)
    assert caller is not None
    assert caller.claims == {"realm": {"roles": ["a"]}, "level": 2, "emails": ["a@b.example"]}

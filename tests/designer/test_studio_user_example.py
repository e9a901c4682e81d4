"""The live example on the page of a user property."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import MAX_MANAGER, RITA_REP
from designer.access_control.groups import for_real
from designer.models import AuditEntry, CallerType, Issuer, UserProperty
from tests.designer.studio import add_row, add_url, change_url, filled, page

EXAMPLE = "admin:designer_userproperty_example"


def _shown(dora: Client, url: str, data: dict[str, Any], user: str, *roles: str) -> str:
    answer = dora.post(url, data | {"_example-user": user, "_example-roles": roles})
    assert answer.status_code == 200, answer
    return html.unescape(answer.content.decode())


@pytest.fixture
def own(portico: None) -> UserProperty:
    return UserProperty.objects.create(name="mine", kind="custom", expression="user.fullName")


def test_a_property_is_shown_for_a_user_as_the_page_stands(dora: Client, own: UserProperty) -> None:
    url, data = reverse(EXAMPLE, args=[own.pk]), filled(page(dora, change_url(own)))
    assert "Rita" in _shown(dora, url, data, RITA_REP)
    data |= {"expression": "'sales-manager' in user.roles"}
    assert "false" in _shown(dora, url, data, MAX_MANAGER)
    assert "true" in _shown(dora, url, data, MAX_MANAGER, "sales-manager")
    data |= {"kind": "field", "attribute": "internalemailaddress"}
    assert "@" in _shown(dora, url, data, RITA_REP)
    own.refresh_from_db()
    assert own.kind == "custom"


def test_related_data_is_shown_before_it_is_saved(dora: Client) -> None:
    data = filled(page(dora, add_url("userproperty")))
    data |= {"name": "unit", "kind": "related", "relationship": "business_unit_system_users"}
    add_row(data, "columns", attribute="name", name="called")
    assert '"called": ' in _shown(dora, reverse(f"{EXAMPLE}_new"), data, RITA_REP)
    assert not UserProperty.objects.filter(name="unit").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"expression": "user.nothing"}, "nothing"),
        ({"expression": "user.(("}, "character 6"),
        ({"kind": "field", "attribute": ""}, "attribute"),
        ({"kind": "related"}, "relationship"),
    ],
)
def test_what_has_no_value_says_why(
    dora: Client, own: UserProperty, changes: dict[str, str], said: str
) -> None:
    data = filled(page(dora, change_url(own))) | changes
    text = _shown(dora, reverse(EXAMPLE, args=[own.pk]), data, RITA_REP)
    assert 'role="alert"' in text
    assert said in text


def test_a_property_is_shown_for_claims_that_issuers_let_expressions_read(
    dora: Client, own: UserProperty
) -> None:
    url = reverse(EXAMPLE, args=[own.pk])
    assert "claims" not in page(dora, change_url(own)).context["example_form"].fields
    issuer = {"name": "Customers", "issuer": "https://customers.example", "audiences": ["api"]}
    Issuer.objects.create(**issuer, readable_claims=["tier"])
    data = filled(page(dora, change_url(own)))
    assert "claims" in page(dora, change_url(own)).context["example_form"].fields
    data |= {"expression": "user.fullName + ' ' + user.claims.tier"}
    assert "Rita Rep gold" in _shown(dora, url, data | {"_example-claims": '{"tier": "gold"}'}, RITA_REP)
    missing = _shown(dora, url, data, RITA_REP)
    assert 'role="alert"' in missing
    assert "tier" in missing
    for wrong, said in (("[1]", "Write a JSON object"), ("{", "valid JSON")):
        assert said in _shown(dora, url, data | {"_example-claims": wrong}, RITA_REP)


def test_an_example_is_noted_and_asks_for_its_own_permission(dora: Client, own: UserProperty) -> None:
    url, data = reverse(EXAMPLE, args=[own.pk]), filled(page(dora, change_url(own)))
    assert "Choose a user" in _shown(dora, url, data, "")
    _shown(dora, url, data, RITA_REP)
    noted = AuditEntry.objects.get(action="run")
    assert (noted.subject, noted.detail) == ("@user.mine", RITA_REP)
    User.objects.get(username="designer").user_permissions.remove(*for_real())
    assert dora.post(url, data | {"_example-user": RITA_REP}).status_code == 403
    assert "data-example" not in page(dora, change_url(own)).content.decode()


def test_an_example_without_a_record_is_noted_without_one(dora: Client, portico: None) -> None:
    CallerType.objects.create(name="visitor", title="Visitor")
    greeting = UserProperty.objects.create(
        caller_type_id="visitor", name="greeting", kind="custom", expression="'hello'"
    )
    url, data = reverse(EXAMPLE, args=[greeting.pk]), filled(page(dora, change_url(greeting)))
    assert "hello" in _shown(dora, url, data, "")
    noted = AuditEntry.objects.get(action="run")
    assert (noted.subject, noted.detail) == ("@user.greeting", "")


def test_a_new_property_reads_one_that_is_called_none(dora: Client) -> None:
    UserProperty.objects.create(name="None", kind="field", attribute="fullname")
    data = filled(page(dora, add_url("userproperty")))
    data |= {"name": "greeting", "kind": "custom", "expression": "'Hello ' + user.None"}
    assert "Hello Rita" in _shown(dora, reverse(f"{EXAMPLE}_new"), data, RITA_REP)

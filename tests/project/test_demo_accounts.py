"""The demo's accounts, as the loader makes them."""

from __future__ import annotations

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.test import RequestFactory

from crmbox.demo import people
from designer.models import Role
from project.demo_accounts import API_ACCOUNTS, STUDIO_ACCOUNTS, create_accounts
from runtime.models import ApiAccount

pytestmark = pytest.mark.django_db

PASSWORDS = {name: f"password of {name}" for name in (*API_ACCOUNTS, *STUDIO_ACCOUNTS)}


@pytest.fixture(autouse=True)
def _empty() -> None:
    get_user_model().objects.all().delete()
    for name in ("sales-rep", "sales-manager", "support", "customer"):
        Role.objects.get_or_create(name=name)


def test_api_accounts_stand_for_people_of_the_crm_and_open_no_studio() -> None:
    create_accounts(PASSWORDS)
    accounts = {
        account.user.username: (
            account.caller_type_id,
            str(account.record),
            [role.name for role in account.roles.all()],
        )
        for account in ApiAccount.objects.all()
    }
    assert accounts == {
        "rep": ("user", people.RITA_REP, ["sales-rep"]),
        "manager": ("user", people.MAX_MANAGER, ["sales-manager"]),
        "agent": ("user", people.AYA_AGENT, ["support"]),
        "customer": ("contact", people.CLARA_CUSTOMER, ["customer"]),
        "customer2": ("contact", people.COSMO_CONTACT, ["customer"]),
    }
    assert not get_user_model().objects.filter(api_account__isnull=False, is_staff=True).exists()


def test_studio_accounts_have_no_api_account() -> None:
    create_accounts(PASSWORDS)
    studio = get_user_model().objects.filter(is_staff=True)
    assert {user.username for user in studio} == {"designer", "admin"}
    assert not ApiAccount.objects.filter(user__in=studio).exists()
    assert [group.name for group in studio.get(username="designer").groups.order_by("name")] == [
        "Designer",
        "Publisher",
    ]
    assert studio.get(username="designer").has_perm("designer.call_for_real")
    assert studio.get(username="admin").groups.get().name == "Administrator"
    assert [user.username for user in studio if user.is_superuser] == ["admin"]


def test_passwords_are_those_given() -> None:
    create_accounts(PASSWORDS)
    for name, password in PASSWORDS.items():
        assert authenticate(RequestFactory().post("/"), username=name, password=password) is not None


def test_a_second_time_changes_nothing_but_passwords() -> None:
    create_accounts(PASSWORDS)
    before = set(get_user_model().objects.values_list("pk", "username"))
    create_accounts({"rep": "another"})
    assert set(get_user_model().objects.values_list("pk", "username")) == before
    assert get_user_model().objects.get(username="rep").check_password("another")
    assert get_user_model().objects.get(username="agent").check_password(PASSWORDS["agent"])

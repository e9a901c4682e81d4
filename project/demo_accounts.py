"""The demo's accounts: API accounts of users and contacts of the demo's CRM, and two of the studio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.db import transaction

from crmbox.demo.people import AYA_AGENT, CLARA_CUSTOMER, COSMO_CONTACT, MAX_MANAGER, RITA_REP
from crmclient import Guid
from designer.access_control.groups import ADMINISTRATOR, DESIGNER, PUBLISHER, for_real
from designer.models import Role
from designer.names import USER_TYPE
from runtime.models import ApiAccount

# The caller type of customers.
_CONTACT = "contact"


@dataclass(frozen=True, slots=True)
class _Person:
    """A person of the demo with an API account. `record` is the user or contact that the account stands
    for.
    """

    first_name: str
    last_name: str
    role: str
    record: Guid
    caller_type: str = USER_TYPE


API_ACCOUNTS: Mapping[str, _Person] = {
    "rep": _Person("Rita", "Rep", "sales-rep", RITA_REP),
    "manager": _Person("Max", "Manager", "sales-manager", MAX_MANAGER),
    "agent": _Person("Aya", "Agent", "support", AYA_AGENT),
    "customer": _Person(
        first_name="Clara", last_name="Customer", role="customer", record=CLARA_CUSTOMER, caller_type=_CONTACT
    ),
    "customer2": _Person(
        first_name="Cosmo", last_name="Contact", role="customer", record=COSMO_CONTACT, caller_type=_CONTACT
    ),
}
STUDIO_ACCOUNTS = ("designer", "admin")


@transaction.atomic
def create_accounts(passwords: Mapping[str, str]) -> None:
    """Create the accounts that `passwords` names, or reset them to their first state. Roles must exist."""
    for username, person in API_ACCOUNTS.items():
        if username in passwords:
            _set_api_account(
                _user_in_first_state(username, passwords[username], person.first_name, person.last_name),
                person,
            )
    if "designer" in passwords:
        designer = _user_in_first_state("designer", passwords["designer"], "Dora", "Designer", is_staff=True)
        # Nobody else works in the demo's studio: the designer may also publish, and try endpoints for real.
        designer.groups.set(Group.objects.filter(name__in=(DESIGNER, PUBLISHER)))
        designer.user_permissions.set(for_real())
    if "admin" in passwords:
        admin = _user_in_first_state(
            "admin", passwords["admin"], "Ada", "Admin", is_staff=True, is_superuser=True
        )
        admin.groups.set(Group.objects.filter(name=ADMINISTRATOR))


def _user_in_first_state(
    username: str,
    password: str,
    first_name: str,
    last_name: str,
    *,
    is_staff: bool = False,
    is_superuser: bool = False,
) -> User:
    """Create a Django user, or reset one with this name to its first state."""
    user, _ = User.objects.get_or_create(username=username)
    user.first_name, user.last_name = first_name, last_name
    user.is_staff, user.is_superuser, user.is_active = is_staff, is_superuser, True
    user.set_password(password)
    user.save()
    return user


def _set_api_account(user: User, person: _Person) -> None:
    """Create the API account of a user, or reset it to its first state."""
    account, _ = ApiAccount.objects.update_or_create(
        user=user, defaults={"caller_type_id": person.caller_type, "record": person.record}
    )
    account.roles.set([Role.objects.get(name=person.role)])

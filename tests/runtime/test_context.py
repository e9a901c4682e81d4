"""The user context: fields, related data and expressions over the caller's own record."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from crmbox.demo import people
from crmclient import Call, Reference, Value
from crmclient.errors import DeadlineExceeded
from designer.definitions import ColumnDefinition, UserPropertyDefinition
from designer.models import Role
from designer.platform import get_platform
from project.demo import MORE_USER_PROPERTIES
from runtime.callers.caller import ANONYMOUS, Caller
from runtime.callers.tokens import identify
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.models import ApiAccount
from tests.callers import Caller as Client
from tests.callers import account

pytestmark = pytest.mark.usefixtures("portico")


def a_field(name: str, attribute: str) -> UserPropertyDefinition:
    return UserPropertyDefinition(name=name, attribute=attribute)


def related(name: str, relationship: str, /, **columns: str) -> UserPropertyDefinition:
    """`columns` as output name = attribute."""
    chosen = tuple(ColumnDefinition(attribute=attribute, name=key) for key, attribute in columns.items())
    return UserPropertyDefinition(name=name, kind="related", relationship=relationship, columns=chosen)


def custom(name: str, expression: str) -> UserPropertyDefinition:
    return UserPropertyDefinition(name=name, kind="custom", expression=expression)


def caller(user: str, *roles: str) -> Caller:
    profile = get_platform().user(user)
    return Caller("portico", user, frozenset(roles), record=user, profile=profile)


def context(*properties: UserPropertyDefinition) -> UserContext:
    return UserContext(properties, get_platform(), remembered_under="metadata")


def rita_reads(*properties: UserPropertyDefinition) -> dict[str, Any]:
    # Read each time, as the studio does.
    answer = UserContext(properties, get_platform()).answer(caller(people.RITA_REP, "sales-rep"))
    assert answer.keys() == {"user"}
    user: dict[str, Any] = answer["user"]
    return user


def test_the_demo_answers_the_seven_properties_of_the_specification(rita: Client) -> None:
    answer = rita.get("/api/context")
    assert answer.status_code == 200
    assert list(answer.json()) == ["user"]
    user = answer.json()["user"]
    teams = user.pop("teamNames")
    assert {"Key Accounts", "North Field"} <= set(teams)
    assert list(user.items()) == [
        ("id", people.RITA_REP),
        ("fullName", "Rita Rep"),
        ("email", "rita.rep@contoso.example"),
        ("businessUnitId", people.SALES_NORTH),
        ("title", "Sales Representative"),
        ("isManager", False),
    ]


def test_the_demo_has_a_document_with_more_user_properties(rita: Client) -> None:
    call_command("importconfig", str(MORE_USER_PROPERTIES), stdout=io.StringIO())
    user = rita.get("/api/context").json()["user"]
    assert {"businessUnit", "manager"} < user.keys()
    assert user["businessUnit"]["name"] == "Sales North"
    assert user["manager"] == {"id": people.MAX_MANAGER, "fullName": "Max Manager"}
    assert len(user) == 9


def test_each_caller_reads_their_own(max: Client, aya: Client) -> None:
    manager, agent = (client.get("/api/context").json()["user"] for client in (max, aya))
    assert (manager["fullName"], manager["isManager"]) == ("Max Manager", True)
    assert (agent["fullName"], agent["isManager"]) == ("Aya Agent", False)


def test_without_a_token_it_is_401(anonymous: Client) -> None:
    answer = anonymous.get("/api/context")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_keys_are_the_camel_case_of_names() -> None:
    assert rita_reads(
        a_field("FullName", "fullname"),
        a_field("Mail address", "internalemailaddress"),
        a_field("ID", "systemuserid"),
    ).keys() == {"fullName", "mailAddress", "id"}


def test_properties_keep_their_order() -> None:
    names = ["zeta", "alpha", "mid"]
    assert list(rita_reads(*(a_field(name, "fullname") for name in names))) == names


def test_a_lookup_is_its_guid() -> None:
    assert rita_reads(a_field("unit", "businessunitid")) == {"unit": people.SALES_NORTH}


def test_an_empty_field_is_null() -> None:
    assert rita_reads(a_field("mobile", "mobilephone")) == {"mobile": None}


def test_one_related_record_is_an_object() -> None:
    manager = related("manager", "user_parent_user", name="fullname", id="systemuserid")
    assert rita_reads(manager) == {"manager": {"name": "Max Manager", "id": people.MAX_MANAGER}}


def test_no_related_record_is_null() -> None:
    manager = related("manager", "user_parent_user", name="fullname")
    answer = context(manager).answer(caller(people.PORTAL_SERVICE))
    assert answer == {"user": {"manager": None}}


def test_a_lookup_of_a_related_record_is_its_guid() -> None:
    manager = related("manager", "user_parent_user", businessUnit="businessunitid")
    assert rita_reads(manager) == {"manager": {"businessUnit": people.SALES_NORTH}}


def test_many_to_many_is_an_array_by_name() -> None:
    teams = related("teams", "teammembership_association", name="name", id="teamid")
    assert rita_reads(teams) == {
        "teams": [
            {"name": "Key Accounts", "id": people.KEY_ACCOUNTS},
            {"name": "North Field", "id": people.NORTH_FIELD},
        ]
    }


def test_one_to_many_is_an_array_of_the_users_own_records() -> None:
    platform = get_platform()
    mine = related(
        "contacts", "system_user_contacts", id="contactid", name="fullname", user="preferredsystemuserid"
    )
    before = rita_reads(mine)["contacts"]
    assert all(contact["user"] == people.RITA_REP for contact in before)
    new = platform.create(
        "contact", {"lastname": "Zz", "preferredsystemuserid": Reference("systemuser", people.RITA_REP)}
    )
    after = rita_reads(mine)["contacts"]
    assert len(after) == len(before) + 1
    assert new.id in {contact["id"] for contact in after}


def test_nobody_associated_is_an_empty_array() -> None:
    teams = related("teams", "teammembership_association", name="name")
    assert context(teams).answer(caller(people.PORTAL_SERVICE)) == {"user": {"teams": []}}


def test_a_column_without_a_name_has_its_attributes() -> None:
    manager = UserPropertyDefinition(
        name="manager",
        kind="related",
        relationship="user_parent_user",
        columns=(ColumnDefinition(attribute="fullname"),),
    )
    assert rita_reads(manager) == {"manager": {"fullname": "Max Manager"}}


def test_an_expression_sees_fields_related_data_roles_and_teams() -> None:
    user = rita_reads(
        a_field("fullName", "fullname"),
        related("manager", "user_parent_user", name="fullname"),
        custom("greeting", "'I am ' + user.fullName + ', of ' + user.manager.name"),
        custom("sells", "'sales-rep' in user.roles"),
        custom("leads", "'sales-manager' in user.roles"),
        custom("teams", "user.teams.map(t, t.name)"),
    )
    assert user["greeting"] == "I am Rita Rep, of Max Manager"
    assert (user["sells"], user["leads"]) == (True, False)
    assert sorted(user["teams"]) == ["Key Accounts", "North Field"]


def test_an_expression_without_a_value_is_null_and_spares_the_others() -> None:
    properties = (
        a_field("name", "fullname"),
        related("manager", "user_parent_user", name="fullname"),
        custom("boss", "user.manager.name"),
    )
    user = context(*properties).answer(caller(people.PORTAL_SERVICE))["user"]
    assert user == {"name": "Portal Service", "manager": None, "boss": None}


@pytest.mark.parametrize(
    "broken",
    [
        a_field("broken", "nosuchattribute"),
        a_field("broken", ""),
        related("broken", "no_such_relationship", name="name"),
        related("broken", "teammembership_association", name="nosuchattribute"),
        related("broken", "teammembership_association"),
        custom("broken", "user."),
        custom("broken", "secret.key"),
        custom("broken", ""),
    ],
    ids=repr,
)
def test_a_broken_property_is_named_and_spares_values_of_the_others(broken: UserPropertyDefinition) -> None:
    built = context(a_field("name", "fullname"), broken)
    assert built.broken.keys() == {"broken"}
    rita = caller(people.RITA_REP)
    with pytest.raises(Misconfigured, match="broken"):
        built.answer(rita)
    assert built.values(rita) == {"id": people.RITA_REP, "name": "Rita Rep"}


def test_an_anonymous_caller_is_401() -> None:
    with pytest.raises(Problem) as caught:
        context().answer(ANONYMOUS)
    assert caught.value.status_code == 401


def test_a_caller_without_a_platform_user_is_403() -> None:
    with pytest.raises(Problem) as caught:
        context().answer(Caller("portico", "7"))
    assert (caught.value.status_code, caught.value.code) == (403, "no_platform_user")


@pytest.mark.parametrize("change", ["disabled", "deleted"])
def test_a_user_gone_from_the_platform_is_403(change: str) -> None:
    nils = _a_new_user()
    identity = caller(nils)
    if change == "disabled":
        get_platform().update("systemuser", nils, {"isdisabled": True})
    else:
        get_platform().delete("systemuser", nils)
    with pytest.raises(Problem) as caught:
        context().answer(identity)
    assert (caught.value.status_code, caught.value.code) == (403, "no_platform_user")
    with pytest.raises(Problem) as caught:
        identify_local(nils)
    assert (caught.value.status_code, caught.value.code) == (403, "no_platform_user")


def test_a_user_disabled_on_the_platform_loses_access_within_a_minute(
    rita: Client, a_minute_later: Callable[[], None]
) -> None:
    assert rita.get("/api/context").status_code == 200
    get_platform().update("systemuser", people.RITA_REP, {"isdisabled": True})
    a_minute_later()
    answer = rita.post("/api/sales/accounts", {"name": "Contoso"})
    assert answer.status_code == 403
    assert answer.json()["code"] == "no_platform_user"


def test_values_for_bindings_are_read_once_a_minute(
    django_assert_num_queries: Callable[[int], Any], a_minute_later: Callable[[], None]
) -> None:
    built = context(a_field("name", "fullname"))
    rita = caller(people.RITA_REP)
    assert built.values(rita) == {"id": people.RITA_REP, "name": "Rita Rep"}
    with django_assert_num_queries(0):
        assert built.values(rita) == {"id": people.RITA_REP, "name": "Rita Rep"}
    get_platform().update("systemuser", people.RITA_REP, {"lastname": "Renamed"})
    a_minute_later()
    assert built.values(rita) == {"id": people.RITA_REP, "name": "Rita Renamed"}


def test_values_of_one_caller_are_never_anothers() -> None:
    built = context(a_field("name", "fullname"))
    rita, max_ = caller(people.RITA_REP), caller(people.MAX_MANAGER)
    assert built.values(rita) == {"id": people.RITA_REP, "name": "Rita Rep"}
    assert built.values(max_) == {"id": people.MAX_MANAGER, "name": "Max Manager"}
    assert built.values(replace(rita, record=people.AYA_AGENT)) == {
        "id": people.AYA_AGENT,
        "name": "Aya Agent",
    }


def test_what_the_studio_tries_is_read_afresh() -> None:
    built = UserContext((a_field("name", "fullname"),), get_platform())
    rita = caller(people.RITA_REP)
    built.answer(rita)
    get_platform().update("systemuser", people.RITA_REP, {"lastname": "Renamed"})
    assert built.answer(rita) == {"user": {"name": "Rita Renamed"}}


def test_the_deadline_reaches_the_platform() -> None:
    with pytest.raises(DeadlineExceeded):
        context(a_field("name", "fullname")).answer(
            caller(people.RITA_REP), Call(deadline=time.monotonic() - 1)
        )


def test_a_new_token_shows_changed_roles(rita: Client) -> None:
    ApiAccount.objects.get(user__username="rep").roles.add(Role.objects.get(name="sales-manager"))
    assert account("rep").get("/api/context").json()["user"]["isManager"] is True


def identify_local(user: str) -> Caller:
    """Identifies an account that stands for `user`."""
    someone = get_user_model().objects.create_user("someone")
    ApiAccount.objects.create(user=someone, record=user)
    return identify({"iss": "portico", "sub": str(someone.pk)})


def _a_new_user() -> str:
    values: dict[str, Value] = {
        "firstname": "New",
        "lastname": "User",
        "domainname": "new.user@contoso.example",
        "businessunitid": Reference("businessunit", people.SALES_NORTH),
    }
    return get_platform().create("systemuser", values).id

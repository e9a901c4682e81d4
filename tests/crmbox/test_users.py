"""System users with their business unit, teams and security roles."""

from __future__ import annotations

import pytest

from crmbox.engine.identities import ROOT_BUSINESS_UNIT, SERVICE_USER
from crmbox.system.install import install
from crmclient import Platform, Reference
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound
from crmclient.metadata import PlatformUser, SecurityRole

NOBODY = "11111111-1111-4111-8111-111111111111"
ROOT = Reference("businessunit", ROOT_BUSINESS_UNIT)


def test_the_service_has_a_user_in_the_root_business_unit(platform: Platform) -> None:
    assert platform.user(platform.who()) == PlatformUser(
        SERVICE_USER, "Portico Service", False, ROOT_BUSINESS_UNIT, (), (), ()
    )


def test_a_user_comes_with_its_surroundings(platform: Platform) -> None:
    user = platform.create(
        "systemuser", {"firstname": "Rita", "lastname": "Rep", "businessunitid": ROOT, "isdisabled": True}
    ).id
    teams = [platform.create("team", {"name": name, "businessunitid": ROOT}).id for name in ("West", "East")]
    role = platform.create("role", {"name": "Salesperson", "businessunitid": ROOT}).id
    for team in teams:
        platform.create("teammembership", {"teamid": team, "systemuserid": user})
    platform.create("systemuserroles", {"systemuserid": user, "roleid": role})

    assert platform.user(user) == PlatformUser(
        user,
        "Rita Rep",
        True,
        ROOT_BUSINESS_UNIT,
        (teams[1], teams[0]),
        ("East", "West"),
        ("Salesperson",),
    )
    assert SecurityRole(role, "Salesperson") in platform.security_roles()


def test_nobody_is_in_a_team_twice(platform: Platform) -> None:
    team = platform.create("team", {"name": "West", "businessunitid": ROOT}).id
    # Not the service's own, whom another test sees as the installation makes it.
    user = platform.create("systemuser", {"lastname": "Twice", "businessunitid": ROOT}).id
    platform.create("teammembership", {"teamid": team, "systemuserid": user})

    with pytest.raises(DuplicateKey):
        platform.create("teammembership", {"teamid": team, "systemuserid": user})


def test_a_membership_needs_both_ends(platform: Platform) -> None:
    with pytest.raises(InvalidRecord) as raised:
        platform.create("teammembership", {"teamid": NOBODY, "systemuserid": SERVICE_USER})

    assert [(p.attribute, p.code) for p in raised.value.problems] == [("teamid", "unknown_target")]


@pytest.mark.parametrize("id", [NOBODY, "not-a-guid"])
def test_an_unknown_user_is_not_found(platform: Platform, id: str) -> None:
    with pytest.raises(RecordNotFound):
        platform.user(id)


def test_installing_again_changes_nothing(joined: Platform) -> None:
    before = joined.metadata_revision()
    joined.update("systemuser", SERVICE_USER, {"lastname": "Robot"})

    install()

    assert joined.metadata_revision() == before
    assert joined.user(SERVICE_USER).full_name == "Portico Robot"

"""An application user who may not read everything: what is missing is named, and all else works."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import requests

from crmbox.demo.people import FIRST_ACCOUNT
from crmclient.dataverse.metadata.store import MemoryStore
from crmclient.dataverse.metadata.stored_documents import FORMAT
from crmclient.errors import MissingPrivilege
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import credentials, platform_at, settings_for
from tests.servers import Server, Site

PRIVILEGES = {
    "prvReadEntity": "entities",
    "prvReadAttribute": "entity/account",
    "prvReadRelationship": "entity/account/relationships",
    "prvReadOptionSet": "optionsets",
    "prvReadCustomAPI": "processes",
    "prvReadCustomAPIRequestParameter": "processes",
    "prvReadCustomAPIResponseProperty": "processes",
    "prvReadLanguage": "languages",
    "prvReadOrganization": None,
    "prvReadUser": None,
    "prvReadTeam": None,
    "prvReadRole": None,
    "prvReadBusinessUnit": None,
    "WhoAmI": "serviceuser",
    "$metadata": "processes",
}
"""What each is needed for, as `missing_privileges` calls it; None for what is asked as records are."""

ALL = ",".join(PRIVILEGES)
STUDIO = [
    *("", "designer/endpoint/", "designer/module/", "designer/exposedentity/", "designer/userproperty/"),
    *("runtime/apiaccount/", "runtime/apiaccount/add/", "designer/endpoint/add/"),
    *("matrix/", "view-as/", "usage/", "versions/", "palette/", "import/", "export/"),
]


@pytest.fixture
def denying(failing: Failing) -> Iterator[Failing]:
    yield failing
    deny(failing.server)


def deny(crm: Server, *privileges: str) -> None:
    body = {"faults": [], "denied": privileges}
    requests.put(f"{crm.url}/faults", json=body, timeout=30).raise_for_status()


@pytest.mark.parametrize("privilege", PRIVILEGES)
def test_the_missing_privilege_is_named_and_the_rest_is_told(denying: Failing, privilege: str) -> None:
    deny(denying.server, privilege)
    platform = platform_at(denying.server)
    asks = {
        "entities": platform.entities,
        "attributes": lambda: platform.attributes("account"),
        "relationships": lambda: platform.relationships("account"),
        "option set of an attribute": lambda: platform.option_set("industrycode", entity="account"),
        "option sets": platform.option_sets,
        "processes": platform.processes,
        "languages": platform.languages,
        "who": platform.who,
        "security roles": platform.security_roles,
    }
    told, refused = set(), {}

    for name, ask in asks.items():
        try:
            assert ask()
            told.add(name)
        except MissingPrivilege as error:
            refused[name] = error.privilege

    named = privilege if privilege.startswith("prv") else ""
    assert set(refused.values()) <= {named}
    part = PRIVILEGES[privilege]
    assert (part in platform.missing_privileges()) == (part is not None)
    expected = {
        "prvReadEntity": {"option sets", "languages", "who"},
        "prvReadAttribute": {"entities", "option sets", "processes", "languages", "who"},
        "prvReadRelationship": asks.keys() - {"relationships"},
        "prvReadOptionSet": asks.keys() - {"option set of an attribute", "option sets"},
        "prvReadRole": asks.keys() - {"security roles"},
        "WhoAmI": asks.keys() - {"who"},
        "$metadata": asks.keys() - {"processes"},
    }
    assert told >= expected.get(privilege, asks.keys()), refused


ATTRIBUTES = {"Properties": {"PropertyNames": ["Attributes"]}}
RELATIONSHIPS = {"Properties": {"PropertyNames": ["ManyToOneRelationships"]}}
OPTION_SETS = {**ATTRIBUTES, "AttributeQuery": {"Properties": {"PropertyNames": ["OptionSet"]}}}
NAMES = {"Properties": {"PropertyNames": ["LogicalName"]}}


@pytest.mark.parametrize(
    ("privilege", "needed_by", "not_needed_by"),
    [
        ("prvReadEntity", (NAMES, ATTRIBUTES, {}), ()),
        ("prvReadAttribute", (ATTRIBUTES, OPTION_SETS, {}), (NAMES, RELATIONSHIPS)),
        (
            "prvReadRelationship",
            (RELATIONSHIPS, {"Properties": {"AllProperties": True}}),
            (NAMES, ATTRIBUTES),
        ),
        ("prvReadOptionSet", (OPTION_SETS, {}), (NAMES, ATTRIBUTES, RELATIONSHIPS)),
    ],
)
def test_metadata_of_many_entities_need_the_privileges_of_their_parts(
    denying: Failing,
    privilege: str,
    needed_by: tuple[dict[str, object], ...],
    not_needed_by: tuple[dict[str, object], ...],
) -> None:
    url = denying.server.url
    headers = {"Authorization": f"Bearer {credentials(url).fetch(30).text}"}
    deny(denying.server, privilege)

    def ask(query: dict[str, object]) -> requests.Response:
        path = f"{url}/api/data/v9.2/RetrieveMetadataChanges(Query=@p1)"
        return requests.get(path, {"@p1": json.dumps(query)}, headers=headers, timeout=60)

    refused = [ask(query) for query in needed_by]
    assert [answer.status_code for answer in refused] == [403] * len(needed_by)
    assert all(f"is missing {privilege} privilege" in answer.text for answer in refused)
    assert [ask(query).status_code for query in not_needed_by] == [200] * len(not_needed_by)


def test_what_was_denied_is_known_after_a_refresh(denying: Failing) -> None:
    deny(denying.server, *PRIVILEGES)
    platform = platform_at(denying.server)
    for ask in (platform.entities, platform.option_sets, platform.processes, platform.who):
        with pytest.raises(MissingPrivilege):
            ask()
    deny(denying.server)
    with pytest.raises(MissingPrivilege):
        platform.entities()

    assert platform.refresh_metadata()

    assert platform.missing_privileges() == {}
    assert "account" in platform.entities()
    assert platform.attributes("account")
    assert platform.who()


def test_what_was_known_stays_when_a_privilege_is_taken_away(denying: Failing) -> None:
    platform = platform_at(denying.server)
    before = platform.attributes("account"), platform.option_sets(), platform.processes()
    deny(denying.server, *PRIVILEGES)

    platform.refresh_metadata()

    assert (platform.attributes("account"), platform.option_sets(), platform.processes()) == before
    assert platform.missing_privileges()["entities"] == "prvReadEntity"


@pytest.mark.parametrize("privilege", ["prvReadRelationship", "prvReadOptionSet"])
def test_parts_of_an_entity_that_were_known_stay_when_their_privilege_is_taken_away(
    denying: Failing, privilege: str
) -> None:
    platform = platform_at(denying.server)

    def known() -> object:
        industries = platform.option_set("industrycode", entity="account")
        return platform.attributes("account"), platform.relationships("account"), industries

    before = known()
    deny(denying.server, privilege)

    for _ in range(2):
        platform.refresh_metadata()
        assert known() == before
        assert privilege in platform.missing_privileges().values()


def test_entities_that_cannot_be_read_in_either_place_are_unknown(denying: Failing) -> None:
    store = MemoryStore()
    platform = platform_at(denying.server, store=store)
    platform.attributes("account")
    store.save(f"{FORMAT}/entities", b'{"from": "another time"}')
    deny(denying.server, *PRIVILEGES)

    platform.refresh_metadata()

    with pytest.raises(MissingPrivilege):
        platform.entities()


def test_a_user_without_readable_teams_and_roles_is_a_user(denying: Failing) -> None:
    platform = platform_at(denying.server)
    deny(denying.server, "prvReadTeam", "prvReadRole")

    user = platform.user(platform.who())

    assert user.full_name
    assert (user.team_names, user.security_roles) == ((), ())


@pytest.mark.processes
@pytest.mark.parametrize("denied", [ALL, "prvReadEntity", "prvReadCustomAPI,prvReadRelationship,prvReadRole"])
def test_the_service_starts_serves_and_says_what_it_lacks(site: Site, denying: Failing, denied: str) -> None:
    settings = settings_for(denying.server)
    deny(denying.server, *denied.split(","))
    outputs = [site.manage("prepare", **settings)]
    server = site.start(**settings)

    studio = signed_in(server)
    pages = [*STUDIO, *(f"designer/endpoint/{id}/change/" for id in (1, 2, 3, 5, 8, 13, 21))]
    for path in pages:
        answer = studio.get(f"{server.url}/admin/{path}", timeout=60)
        assert answer.status_code in (200, 404), (path, answer.text)
        outputs.append(answer.text)
    for path in ("metadata/", "metadata/?entity=account", "metadata/?entity=contact"):
        outputs.append(studio.get(f"{server.url}/admin/{path}", timeout=60).text)
    state = studio.get(f"{server.url}/admin/platform/", timeout=60)
    exposing = studio.get(f"{server.url}/admin/expose/", timeout=60)
    headers = {"Authorization": f"Bearer {server.token('manager')}"}
    read = server.request("GET", f"/api/sales/accounts/{FIRST_ACCOUNT}", headers=headers)

    assert state.status_code == exposing.status_code == 200
    assert "prvRead" in state.text
    assert "does not answer" not in state.text
    assert "cannot be asked" not in "".join(outputs)
    if "prvReadEntity" in denied:
        assert "prvReadEntity" in exposing.text
        assert (read.status_code, read.json()["code"]) == (502, "platform_error")
        assert "prvRead" not in read.text
    else:
        assert read.status_code == 200, read.text
    outputs.append(server.output())
    assert "Traceback" not in "".join(outputs)


def signed_in(server: Server) -> requests.Session:
    session = requests.Session()
    page = f"{server.url}/admin/login/"
    session.get(page, timeout=60)
    form = {"username": "admin", "password": "demo", "csrfmiddlewaretoken": session.cookies["csrftoken"]}
    session.post(page, data=form, headers={"Referer": page}, timeout=60)
    return session

"""An application user who may not read all metadata: calls are served that can do without what is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from crmbox.demo.people import CLARA_CUSTOMER, FIRST_ACCOUNT
from crmclient import Reference
from crmclient.errors import MissingPrivilege
from designer.models import Endpoint
from tests.callers import Caller, account
from tests.dataverse.conftest import Failing, Serving
from tests.dataverse.reaching import platform_at
from tests.runtime.accounts import ACCOUNTS

pytestmark = pytest.mark.processes

ACCOUNT = f"{ACCOUNTS}/{FIRST_ACCOUNT}"
CASES = "/api/service/queries/cases?pageSize=1"
OPTION_SETS = ["/optionsets/priorities", "/sales/accounts/optionsets/industries"]
NOT_ALLOWED = "The platform does not allow the service what this call needs."


@pytest.fixture
def remote(serving: Serving, failing: Failing) -> Failing:
    """The service's platform is Dataverse, of which nothing is known."""
    serving(platform_at(failing.server))
    return failing


def calls(case: str) -> dict[str, list[tuple[str, str, object]]]:
    """By account, calls of each kind of endpoint; '' is for nobody's."""
    return {
        "": [
            ("GET", "/api/portal/queries/articles", None),
            ("POST", "/api/sales/leads", {"topic": "Machines", "lastName": "Doe"}),
        ],
        "manager": [
            *(("GET", path, None) for path in ("/api/context", ACCOUNT, f"{ACCOUNT}/files/notes")),
            ("GET", "/api/sales/queries/accounts?industry=1", None),
            ("GET", f"/api/sales/queries/account?accountId={FIRST_ACCOUNT}", None),
            ("GET", "/api/sales/queries/pipeline", None),
            ("POST", ACCOUNTS, {"name": "Contoso", "industry": 1}),
            ("PATCH", ACCOUNT, {"industry": 2}),
            ("POST", "/api/sales/actions/ping", {"message": "Hello"}),
            ("POST", f"{ACCOUNT}/actions/approve", {"comment": "Fine"}),
        ],
        "customer": [
            ("GET", "/api/context", None),
            ("GET", "/api/portal/queries/my-cases?state=0", None),
            ("POST", "/api/portal/cases", {"title": "It stops", "priority": 1}),
        ],
        "agent": [
            ("GET", f"{CASES}&priorities=1,2", None),
            ("PATCH", f"/api/service/cases/{case}", {"priority": 2}),
        ],
    }


def test_calls_are_served_without_the_options(remote: Failing) -> None:
    case = account("agent").get(CASES).json()["data"][0]["id"]
    remote.deny("prvReadOptionSet")

    answers = {
        (name, method, path): caller.request(method, path, body)
        for name, called in calls(case).items()
        for caller in [account(name) if name else Caller()]
        for method, path, body in called
    }

    assert {call: answer.content for call, answer in answers.items() if answer.status_code >= 300} == {}


@pytest.mark.parametrize("path", [ACCOUNT, "/api/sales/queries/accounts?pageSize=1"])
def test_labels_that_nobody_may_read_are_null_and_the_shape_stays(
    serving: Serving, failing: Failing, path: str
) -> None:
    def row() -> dict[str, Any]:
        serving(platform_at(failing.server))
        body = account("manager").get(path).json()
        return dict(body["data"][0] if "data" in body else body)

    before = row()
    failing.deny("prvReadOptionSet")
    after = row()

    labels = {name for name in before if name.endswith("Label")}
    assert labels
    assert list(after) == list(before)
    texts = [text for name in labels for text in (after[name] if after[name] else [None])]
    assert set(texts) == {None}
    assert {name: value for name, value in after.items() if name not in labels} == {
        name: value for name, value in before.items() if name not in labels
    }


def test_an_option_that_only_the_platform_knows_is_refused_by_its_input(remote: Failing) -> None:
    max = account("manager")
    remote.deny("prvReadOptionSet")

    answer = max.post(ACCOUNTS, {"name": "Contoso", "industry": 999})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [
        ("/industry", "unknown_option")
    ]


def test_an_inactive_contact_is_refused_while_nobody_may_read_the_states(remote: Failing) -> None:
    remote.deny("prvReadOptionSet")
    platform = platform_at(remote.server)
    platform.update("contact", CLARA_CUSTOMER, {"statecode": 1})
    try:
        refused = account("customer").get("/api/portal/queries/my-cases")
    finally:
        platform.update("contact", CLARA_CUSTOMER, {"statecode": 0})

    assert refused.status_code == 403


@pytest.mark.parametrize("path", OPTION_SETS)
def test_what_is_the_options_cannot_be_served_and_says_why(remote: Failing, path: str) -> None:
    remote.deny("prvReadOptionSet")

    answer = Caller().get(path)

    assert (answer.status_code, answer.json()["code"]) == (502, "platform_error")
    assert answer.json()["detail"] == f"{NOT_ALLOWED} Quote the requestId to those who run this."


def test_records_are_created_without_the_relationships_where_there_are_no_lists(remote: Failing) -> None:
    inputs = Endpoint.objects.get(kind="create", entity__segment="accounts").inputs
    inputs.filter(name="contacts").delete()
    max = account("manager")
    remote.deny("prvReadRelationship")

    created = max.post(ACCOUNTS, {"name": "Contoso"})
    lead = Caller().post("/api/sales/leads", {"topic": "Machines", "lastName": "Doe"})

    assert (created.status_code, lead.status_code) == (200, 200)


def test_records_that_a_query_links_have_to_be_readable(
    remote: Failing, caplog: pytest.LogCaptureFixture
) -> None:
    max = account("manager")
    path = f"/api/sales/queries/account?accountId={FIRST_ACCOUNT}"
    assert max.get(path).status_code == 200
    remote.deny("prvReadContact")

    refused = max.get(path)

    assert (refused.status_code, refused.json()["detail"].partition(" Quote")[0]) == (502, NOT_ALLOWED)
    [line] = [record for record in caplog.records if record.name == "portico.failures"]
    assert vars(line)["privilege"] == "prvReadContact"


def test_a_hierarchy_that_only_the_platform_knows_is_followed(serving: Serving, failing: Failing) -> None:
    def below() -> int:
        serving(platform_at(failing.server))
        query = Endpoint.objects.get(kind="multi-query", name="account-contacts")
        answer = account("manager").get(f"{query.path}?accountId={FIRST_ACCOUNT}")
        assert answer.status_code == 200, answer.content
        return len(answer.json())

    query = Endpoint.objects.get(kind="multi-query", name="account-contacts")
    one = below()
    query.settings["query"] = query.settings["query"].replace('"eq" value="@', '"eq-or-under" value="@')
    query.save()
    known = below()
    failing.deny("prvReadRelationship")

    assert below() == known >= one > 0


def test_a_lookup_whose_name_in_a_write_only_the_relationships_tell_names_the_privilege(
    failing: Failing,
) -> None:
    platform = platform_at(failing.server)
    customer = Reference("account", FIRST_ACCOUNT)
    failing.deny("prvReadRelationship")

    with pytest.raises(MissingPrivilege) as refused:
        platform.create("incident", {"title": "It stops", "customerid": customer})

    assert refused.value.privilege == "prvReadRelationship"
    assert platform.create("account", {"name": "Contoso", "ownerid": Reference("systemuser", platform.who())})

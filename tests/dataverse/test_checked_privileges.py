"""`manage.py checkplatform` and its page: what may be written, the version, and the budget."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from django.core.management import CommandError, call_command
from django.urls import reverse

from crmbox.demo.people import FIRST_ACCOUNT, MAX_MANAGER
from crmbox.webapi.credentials import DEMO_CLIENT
from crmbox.webapi.privileges import Privilege
from crmclient import Reference
from crmclient.errors import MissingPrivilege
from designer.models import Endpoint, Module
from designer.overview import forget
from designer.platform import get_platform
from tests.callers import account as calling_as
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import platform_at, settings_for
from tests.runtime.associations import associations
from tests.runtime.keys import upserts
from tests.servers import Server, Site
from tests.webapi.crm import service

pytestmark = pytest.mark.processes

Steps = list[dict[str, str]]
Checked = Callable[..., tuple[int, Steps]]

# Who needs a privilege, by the privilege: one of each kind of endpoint, and of what else its calls write.
NEEDED = {
    "prvCreateAccount": "sales.accounts.create",
    "prvWriteAccount": "sales.accounts.update",
    "prvDeleteAccount": "sales.accounts.delete",
    # The list of contacts in the same call, which refer to the new account.
    "prvCreateContact": "sales.accounts.create",
    "prvAppendContact": "sales.accounts.create",
    # Lookups: an account's primary contact, and a case's customer.
    "prvAppendAccount": "sales.accounts.create",
    "prvAppendToContact": "sales.accounts.update",
    "prvAssignIncident": "service.cases.update",
    "prvCreateNote": "sales.accounts.upload.notes",
    "prvWriteNote": "service.cases.upload.notes",
    "prvAppendNote": "sales.accounts.upload.notes",
    "prvReadNote": "sales.accounts.download.notes",
    "prvAppendToIncident": "service.cases.upload.notes",
    "prvCreateLead": "sales.leads.create",
}


def deny(crm: Server, *privileges: str) -> None:
    body = {"faults": [], "denied": privileges}
    requests.put(f"{crm.url}/faults", json=body, timeout=30).raise_for_status()


@pytest.fixture
def crm(failing: Failing) -> Iterator[Server]:
    yield failing.server
    deny(failing.server)


@pytest.fixture
def reached(portico: None, crm: Server, settings: Any) -> Iterator[None]:
    """The service has the CRM server as its platform."""
    settings.PORTICO = {**settings.PORTICO, **settings_for(crm)}
    get_platform.cache_clear()
    forget()
    yield
    get_platform.cache_clear()
    forget()


@pytest.fixture
def checked(reached: None) -> Checked:
    """The exit code of the command and its steps, as JSON says them."""

    def run() -> tuple[int, Steps]:
        output = io.StringIO()
        try:
            call_command("checkplatform", "--json", stdout=output)
        except CommandError as error:
            return error.returncode, json.loads(output.getvalue())
        return 0, json.loads(output.getvalue())

    return run


def named(steps: Steps, name: str) -> Steps:
    return [step for step in steps if step["name"] == name or step["name"].startswith(f"{name} ")]


def lacking(steps: Steps, privilege: str) -> dict[str, str]:
    """The only step that did not pass, apart from those that no privilege changes. It names the privilege."""
    others = ("who", "processes")
    [step] = [step for step in steps if step["outcome"] != "good" and step["name"] not in others]
    assert f"The application user lacks {privilege}." in step["said"]
    return step


@pytest.mark.parametrize("privilege", NEEDED)
def test_each_privilege_to_write_is_named_with_the_endpoint_that_needs_it(
    checked: Checked, crm: Server, privilege: str
) -> None:
    deny(crm, privilege)

    code, steps = checked()

    step = lacking(steps, privilege)
    assert (code, step["outcome"]) == (1, "failed")
    assert NEEDED[privilege] in step["said"] or step["said"].endswith(" and others.")
    assert step["advice"] == f"Add {privilege} to its security role, for the organisation."


@pytest.mark.parametrize(
    ("make", "privileges"),
    [
        (upserts, ("prvCreateAccount", "prvWriteAccount")),
        (associations, ("prvAppendTeam", "prvAppendUser")),
    ],
)
def test_an_upsert_needs_two_privileges_and_an_association_that_of_either_end(
    checked: Checked, crm: Server, make: Callable[[], Endpoint], privileges: tuple[str, ...]
) -> None:
    made = make()
    Endpoint.objects.exclude(pk=made.pk).delete()
    deny(crm, *privileges)

    code, steps = checked()

    failed = [step for step in steps if step["outcome"] == "failed"]
    assert code == 1
    assert len(failed) == len(privileges)
    for privilege, step in zip(privileges, sorted(failed, key=lambda step: step["said"]), strict=True):
        assert f"lacks {privilege}." in step["said"]
        assert made.name in step["said"]


def test_nothing_is_needed_for_endpoints_that_are_off(checked: Checked, crm: Server) -> None:
    deny(crm, "prvCreateLead")
    Endpoint.objects.filter(kind="create", entity__segment="leads").update(enabled=False)

    code, steps = checked()

    assert code == 0
    assert not [step for step in steps if "lead" in step["said"].lower()]


def test_all_that_is_missing_is_told_at_once(checked: Checked, crm: Server) -> None:
    missing = ("prvReadAccount", "prvCreateAccount", "prvCreateNote", "prvCreateLead")
    deny(crm, *missing)

    code, steps = checked()

    said = " ".join(step["said"] for step in steps if step["outcome"] == "failed")
    assert code == 1
    assert [privilege for privilege in missing if privilege not in said] == []


def test_what_only_some_calls_need_is_a_warning(checked: Checked, crm: Server) -> None:
    """A case's customer is an account or a contact: calls that name the other one work."""
    Endpoint.objects.exclude(kind="create", entity__segment="cases").delete()
    Endpoint.objects.get().bindings.exclude(attribute="customerid").delete()
    deny(crm, "prvAppendToAccount")

    code, steps = checked()

    step = lacking(steps, "prvAppendToAccount")
    assert (code, step["outcome"]) == (0, "warning")
    assert "other calls will not" in step["said"]


def test_the_security_role_is_named_that_lacks_it(checked: Checked, crm: Server) -> None:
    platform = platform_at(crm)
    first, second, *_ = platform.security_roles()
    service = platform.who()
    deny(crm, "prvCreateAccount", "prvReadContact")
    try:
        platform.associate("systemuser", service, "systemuserroles_association", first.id)
        _, with_one = checked()
        platform.associate("systemuser", service, "systemuserroles_association", second.id)
        _, with_two = checked()
    finally:
        for role in (first, second):
            platform.disassociate("systemuser", service, "systemuserroles_association", role.id)
    assert {step["advice"] for step in with_one if step["outcome"] == "failed"} == {
        f"Add {privilege} to the security role {first.name}, for the organisation."
        for privilege in ("prvCreateAccount", "prvReadContact")
    }
    roles = ", ".join(sorted((first.name, second.name)))
    advice = f"Add prvCreateAccount to one of the security roles {roles}, for the organisation."
    assert advice in {step["advice"] for step in with_two}


UNSUPPORTED = {"error": {"code": "0x80060888", "message": "Resource not found for the segment."}}
UNSUPPORTED_ANSWER = {"body": json.dumps(UNSUPPORTED), "headers": {"Content-Type": "application/json"}}


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404, **UNSUPPORTED_ANSWER},
        {"status": 501, "body": "no such function"},
        {"status": 200, "body": "{}"},
        None,
    ],
    ids=["unknown function", "not supported", "another answer", "may not ask"],
)
def test_what_the_organisation_does_not_tell_is_unknown_and_a_warning(
    checked: Checked, failing: Failing, answer: dict[str, Any] | None
) -> None:
    if answer is None:
        deny(failing.server, "RetrieveUserPrivileges", "RetrieveVersion")
    else:
        failing.arm({"path": "/(RetrieveVersion|.*RetrieveUserPrivileges)", "times": None, **answer})

    code, steps = checked()

    [privileges], [version] = named(steps, "privileges"), named(steps, "version")
    assert code == 0
    for step in (privileges, version):
        assert step["outcome"] == "warning"
        assert step["said"].startswith("Unknown: ")
    assert "account, annotation, contact, incident, lead" in privileges["said"]


def test_what_needs_metadata_that_may_not_be_read_is_unknown(checked: Checked, crm: Server) -> None:
    """Lists and associations need relationships: what else is missing is named all the same."""
    # Refused what it asks of several entities at once, the client asks for each part of each.
    deny(crm, "RetrieveMetadataChanges", "prvReadRelationship", "prvCreateLead")
    associations()

    code, steps = checked()

    told = named(steps, "privileges")
    [unknown] = [step for step in told if step["said"].startswith("Unknown: what is needed by ")]
    assert code == 1
    assert unknown["outcome"] == "warning"
    assert "sales.accounts.create" in unknown["said"]
    assert "sales.teams.associate.members" in unknown["said"]
    assert "prvReadRelationship" in unknown["said"]
    assert any("lacks prvCreateLead." in step["said"] for step in told)


@pytest.mark.parametrize(
    ("version", "outcome"), [("9.1.0.5", "failed"), ("8.2", "failed"), ("9.2.1", "good"), ("10.0.1", "good")]
)
def test_an_organisation_of_an_older_version_is_named(
    checked: Checked, failing: Failing, version: str, outcome: str
) -> None:
    failing.arm({"path": "/RetrieveVersion", "status": 200, "body": json.dumps({"Version": version})})

    code, steps = checked()

    [step] = named(steps, "version")
    assert (code, step["outcome"]) == (int(outcome == "failed"), outcome)
    assert f"version {version}" in step["said"]
    assert "Web API 9.2" in step["said"]


def test_what_a_process_needs_is_named_where_it_is_known_and_called_unknown_elsewhere(
    checked: Checked, crm: Server
) -> None:
    made = Endpoint.objects.create(
        module=Module.objects.get(segment="sales"),
        kind="global-action",
        name="win",
        settings={"process": "WinOpportunity"},
    )
    missing = ("prvCreateActivity", "prvAppendActivity", "prvWriteOpportunity", "prvAppendToOpportunity")
    deny(crm, *missing)

    code, steps = checked()

    failed = [step["said"] for step in steps if step["outcome"] == "failed"]
    assert code == 1
    for privilege in missing:
        [said] = [said for said in failed if f"lacks {privilege}." in said]
        assert f"sales.global-action.{made.name}" in said
    [processes] = [step for step in named(steps, "processes") if step["outcome"] != "good"]
    assert processes["outcome"] == "warning"
    assert processes["said"].startswith("Unknown: which privileges these processes need: new_CloseCase, ")
    assert "portal.cases.action.close" in processes["said"]
    assert "WinOpportunity" not in processes["said"]


def test_a_privilege_without_which_nobody_may_run_a_process_is_named(checked: Checked, crm: Server) -> None:
    deny(crm, "prvWriteAccount")

    code, steps = checked()

    [lacks] = [step for step in named(steps, "processes") if step["outcome"] == "failed"]
    assert code == 1
    assert lacks["said"] == (
        "The application user lacks prvWriteAccount and cannot run these processes: new_Approve. "
        "Run by: sales.accounts.action.approve."
    )
    assert lacks["advice"] == "Add prvWriteAccount to its security role, for the organisation."


def test_a_privilege_to_run_a_process_may_be_that_of_no_entity(checked: Checked, failing: Failing) -> None:
    rows = service(failing.server).get("customapis")["value"]
    privileges = {"new_Ping": "prvPublishCustomization", "new_Approve": "prvReadLanguage"}
    for row in rows:
        row["executeprivilegename"] = privileges.get(row["uniquename"])
    failing.arm({"path": "/customapis", "times": None, "status": 200, "body": json.dumps({"value": rows})})

    code, steps = checked()

    told = {step["outcome"]: step["said"] for step in named(steps, "processes")}
    assert code == 1
    assert told["good"] == (
        "The application user has prvReadLanguage and can run these processes: new_Approve."
    )
    assert told["failed"] == (
        "The application user lacks prvPublishCustomization and cannot run these processes: new_Ping. "
        "Run by: sales.global-action.ping."
    )
    # What they do with records may need others all the same.
    assert "new_Approve" in told["warning"]
    assert "new_Ping" in told["warning"]


def test_whether_processes_may_be_run_may_be_unknown(checked: Checked, failing: Failing) -> None:
    failing.arm({"path": "/.*SetOfPrivilegesByNames", "times": None, "status": 404, **UNSUPPORTED_ANSWER})

    code, steps = checked()

    [unknown] = [step for step in named(steps, "processes") if step["said"].startswith("Unknown: whether")]
    assert (code, unknown["outcome"]) == (0, "warning")
    assert "the application user may run these processes: new_Approve." in unknown["said"]


def test_the_log_names_the_privilege_that_running_a_process_needs(
    portico: None, crm: Server, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.PORTICO = {**settings.PORTICO, **settings_for(crm), "CRM_IMPERSONATE": True}
    get_platform.cache_clear()
    forget()
    deny(crm, "prvWriteAccount")
    try:
        with caplog.at_level("INFO", "portico.failures"):
            answer = calling_as("manager").post(
                f"/api/sales/accounts/{FIRST_ACCOUNT}/actions/approve", {"comment": "Fine"}
            )
    finally:
        get_platform.cache_clear()
        forget()
    assert (answer.status_code, answer.json()["code"]) == (403, "platform_denied")
    [line] = [record for record in caplog.records if record.name == "portico.failures"]
    assert vars(line)["privilege"] == "prvWriteAccount"


def reaching(failing: Failing, **depths: str) -> None:
    """Let the platform say that these privileges reach no farther, and all others nothing at all."""
    held = [{"PrivilegeId": Privilege(name).id, "Depth": depth} for name, depth in depths.items()]
    body = json.dumps({"RolePrivileges": held})
    failing.arm({"path": "/.*SetOfPrivilegesByNames", "times": None, "status": 200, "body": body})


def test_privileges_that_do_not_reach_all_records_are_named_with_what_they_reach(
    checked: Checked, failing: Failing
) -> None:
    reaching(
        failing,
        prvReadAccount="Basic",
        prvWriteAccount="Local",
        prvReadContact="Deep",
        prvReadIncident="Global",
        # A new record is its maker's own.
        prvCreateAccount="Basic",
    )

    code, steps = checked()

    assert code == 0
    assert [(step["outcome"], step["said"], step["advice"]) for step in named(steps, "reach")] == [
        (
            "warning",
            f"The application user has {privilege} only for {records}. "
            "Calls cannot find or change other records.",
            f"Add {privilege} to its security role, for the organisation.",
        )
        for privilege, records in (
            ("prvReadAccount", "its own records"),
            ("prvWriteAccount", "the records of its business unit"),
            ("prvReadContact", "the records of its business unit and of those below"),
        )
    ]


def test_the_widest_of_several_roles_counts(checked: Checked, failing: Failing) -> None:
    held = [
        {"PrivilegeId": Privilege("prvReadAccount").id, "Depth": depth}
        for depth in ("Basic", "Global", "Local")
    ]
    body = json.dumps({"RolePrivileges": held})
    failing.arm({"path": "/.*SetOfPrivilegesByNames", "times": None, "status": 200, "body": body})

    _, steps = checked()

    assert named(steps, "reach") == []


def test_how_far_privileges_reach_may_be_unknown(checked: Checked, failing: Failing) -> None:
    failing.arm({"path": "/.*SetOfPrivilegesByNames", "times": None, "status": 404, **UNSUPPORTED_ANSWER})

    code, steps = checked()

    [unknown] = [step for step in named(steps, "privileges") if step["outcome"] == "warning"]
    assert code == 0
    assert unknown["said"].startswith("Unknown: how far the privileges of the application user reach.")
    assert "RetrieveUserSetOfPrivilegesByNames" in unknown["said"]


def test_acting_for_users_needs_its_privilege(checked: Checked, crm: Server, settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "CRM_IMPERSONATE": True}
    _, steps = checked()
    assert [step["outcome"] for step in named(steps, "impersonation")] == ["good"]
    deny(crm, "prvActOnBehalfOfAnotherUser")

    code, steps = checked()

    [step] = named(steps, "impersonation")
    assert (code, step["outcome"]) == (1, "failed")
    assert step["said"] == "The application user lacks prvActOnBehalfOfAnotherUser."


def test_every_application_user_is_checked_and_named(site: Site) -> None:
    second = {"client_id": "second", "client_secret": "demo"}
    crm = site.start_crm(
        root="/contoso",
        CRM_SERVER_FAULTS="1",
        CRM_SERVER_CLIENTS=json.dumps([{**second, "user": MAX_MANAGER}]),
    )
    there = {**settings_for(crm), "CRM_CLIENTS": json.dumps([second])}
    code, output = site.run("checkplatform", "--json", **there)
    steps = json.loads(output)
    assert code == 0, output
    assert [step["said"].partition(":")[0] for step in named(steps, "who")] == [DEMO_CLIENT[0], "second"]
    assert [step["said"].partition(":")[0] for step in named(steps, "budget")] == [DEMO_CLIENT[0], "second"]

    # What only the second one lacks.
    held = [
        {"PrivilegeId": Privilege(f"prv{right}Account").id}
        for right in ("Create", "Write", "Append", "AppendTo")
    ]
    body = json.dumps({"RolePrivileges": held})
    path = f"/systemusers.{MAX_MANAGER}./.*RetrieveUserPrivileges"
    Failing(crm).arm({"path": path, "times": None, "status": 200, "body": body})
    code, output, _ = site.run_apart("checkplatform", "--json", **there)
    failed = [step["said"] for step in json.loads(output) if step["outcome"] == "failed"]
    assert code == 1
    assert all(said.startswith("second: The application user lacks prv") for said in failed)
    assert any("lacks prvDeleteAccount." in said for said in failed)
    assert not any("lacks prvWriteAccount." in said for said in failed)


def test_the_budget_is_what_the_organisation_said_last(site: Site) -> None:
    crm = site.start_crm(root="/contoso", CRM_SERVER_LIMITS="6000,1200,52")
    code, output = site.run("checkplatform", "--json", **settings_for(crm))
    assert code == 0, output
    [step] = named(json.loads(output), "budget")
    assert step["outcome"] == "good"
    # The seconds are those that the answers took.
    assert re.search(r" \d+ of 6,000 requests and \d+ of 1,200 seconds of work ", step["said"])
    left = int(step["said"].partition("Dataverse says that ")[2].partition(" requests")[0].replace(",", ""))
    assert 5_900 < left < 6_000

    scarce = site.start_crm(root="/contoso", CRM_SERVER_LIMITS="2300,1200,52")
    code, output = site.run("checkplatform", "--json", **settings_for(scarce))
    assert code == 0, output
    [step] = named(json.loads(output), "budget")
    assert step["outcome"] == "warning"
    assert "CRM_CLIENTS" in step["advice"]

    code, output = site.run("checkplatform", **settings_for(crm), CRM_BUDGET="0,0")
    assert code == 0, output
    assert "The service keeps to no limit (CRM_BUDGET)." in output


def test_the_page_tells_the_same(site: Site, crm: Server) -> None:
    server = site.start(**settings_for(crm))
    deny(crm, "prvCreateAccount")
    session = requests.Session()
    session.headers["Referer"] = server.url
    session.get(f"{server.url}/admin/login/", timeout=60)

    def send(path: str, language: str, **values: str) -> str:
        sent = {"csrfmiddlewaretoken": session.cookies["csrftoken"], **values}
        headers = {"Accept-Language": language}
        answer = session.post(f"{server.url}{path}", sent, headers=headers, timeout=60)
        answer.raise_for_status()
        return answer.text

    send("/admin/login/", "en", username="admin", password="demo", next="/admin/")
    path = reverse("studio:check_platform")
    page = send(path, "en")

    assert "1 step failed" in page
    for words in ("lacks prvCreateAccount", "sales.accounts.create", "version 9.2", "CRM_BUDGET"):
        assert words in page
    assert "Dem Anwendungsbenutzer fehlt prvCreateAccount" in send(path, "de")


def test_the_crm_server_refuses_what_a_privilege_is_missing_for(crm: Server) -> None:
    platform = platform_at(crm)
    contact = platform.create("contact", {"lastname": "Tied"})
    account = Reference("account", FIRST_ACCOUNT)
    team = platform.create(
        "team", {"name": "Tied", "businessunitid": Reference("businessunit", unit(platform))}
    )
    writes: dict[str, Callable[[], object]] = {
        "prvAppendContact": lambda: platform.update("contact", contact.id, {"parentcustomerid": account}),
        "prvAppendToAccount": lambda: platform.create(
            "contact", {"lastname": "A", "parentcustomerid": account}
        ),
        "prvAssignContact": lambda: platform.update(
            "contact", contact.id, {"ownerid": Reference("systemuser", platform.who())}
        ),
        "prvAppendTeam": lambda: platform.associate(
            "team", team.id, "teammembership_association", platform.who()
        ),
        "prvAppendUser": lambda: platform.disassociate(
            "team", team.id, "teammembership_association", platform.who()
        ),
        # The privilege of the custom API itself.
        "prvWriteAccount": lambda: platform.execute("new_Approve", {"Comment": "x"}, target=account),
    }
    for privilege, write in writes.items():
        deny(crm, privilege)
        with pytest.raises(MissingPrivilege) as refused:
            write()
        assert refused.value.privilege == privilege
        deny(crm)
        write()


def unit(platform: Any) -> str:
    return str(platform.user(platform.who()).business_unit_id)

"""Whatever fails at Dataverse or on the way there: what is said names the fault and what to do."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from crmbox.demo.people import RITA_REP
from crmclient.dataverse.options import Options
from crmclient.dataverse.platform import DataversePlatform
from crmclient.errors import Throttled
from crmclient.query.ast import Column, Query
from designer.access_control.groups import for_real
from designer.models import Endpoint
from designer.overview import overview
from designer.platform import get_platform
from project.metadata_store import DatabaseStore
from runtime.http.outages import outages
from tests.callers import Caller
from tests.chosen_platform import choose, forget_platform, serving_with
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import credentials, platform_at, refreshed, settings_for
from tests.dataverse.test_checkplatform import untrusted

pytestmark = pytest.mark.processes

SECONDS = 1.0
"""So long the platform has for each request here."""

FOREVER: dict[str, Any] = {"times": None}


@pytest.fixture
def remote(portico: None, failing: Failing, settings: Any) -> Iterator[Failing]:
    """The service's platform is Dataverse, whose metadata is known."""
    store = DatabaseStore("https://contoso.example/")
    platform = failing.platform(store=store, retries=0, timeout=SECONDS * 30, metadata_timeout=SECONDS * 30)
    platform.refresh_metadata()
    timeout = {"PLATFORM_TIMEOUT": int(SECONDS), "METADATA_TIMEOUT": int(SECONDS)}
    with serving_with(platform, settings, **settings_for(failing.server), **timeout):
        # What the endpoints name is known from here on: a page asks the platform for nothing but the refresh.
        overview()
        yield failing
        failing.arm()


def hurried(failing: Failing) -> None:
    """From here on the platform has a second for each request."""
    store = DatabaseStore("https://contoso.example/")
    choose(failing.platform(store=store, retries=0, timeout=SECONDS, metadata_timeout=SECONDS))


DENIED = '{"error": {"code": "0x80040220", "message": "Principal is missing prvReadThing privilege"}}'
FORBIDDEN = '{"error": {"code": "Forbidden", "message": "Request blocked."}}'
BROKEN = '{"error": {"code": "0x80040216", "message": "An unexpected error occurred."}}'
FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no privilege": ({"status": 403, "body": DENIED}, "prvReadThing", "to its security role"),
    "a gateway's 403": ({"status": 403, "body": "<html>"}, "answers 403", "sign-in page"),
    "a gateway's JSON": ({"status": 403, "body": FORBIDDEN}, "answers 403 Forbidden", "a firewall, a proxy"),
    "429 for an hour": (
        {"status": 429, "headers": {"Retry-After": "3600"}},
        "answers 429",
        "Try again in 1 hour.",
    ),
    "429 with a time": (
        {"status": 429, "headers": {"Retry-After": "17"}},
        "answers 429",
        "Try again in 17 seconds.",
    ),
    "429 for a second": (
        {"status": 429, "headers": {"Retry-After": "1"}},
        "answers 429",
        "Try again in 1 second.",
    ),
    "429 without a time": ({"status": 429}, "answers 429", "Try again in 5 seconds."),
    "401": ({"status": 401}, "refuses the service's token", "as an application user"),
    "503": ({"status": 503}, "answers 503", "service health"),
    "a fault of Dataverse": (
        {"status": 500, "headers": {"Content-Type": "application/json"}, "body": BROKEN},
        "answers 500 0x80040216",
        "Microsoft's support",
    ),
    "504": ({"status": 504}, "answers 504", "METADATA_TIMEOUT"),
    "a sign-in page": ({"status": 200, "body": "<html>Sign in</html>"}, "", "sign-in page"),
    "a redirect": ({"status": 302, "headers": {"Location": "/"}}, "redirects (302)", "sign-in page"),
    "a reset": ({"cut": "answer"}, "broke off", "service health"),
    "half an answer": ({"cut": "half"}, "broke off", "service health"),
    "slow": ({"delay": SECONDS * 2}, "in time", "METADATA_TIMEOUT"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_refresh_that_fails_says_what_to_do(remote: Failing, dora: Client, fault: str) -> None:
    what, said, advised = FAULTS[fault]
    hurried(remote)
    remote.arm({"path": "/EntityDefinitions|/RetrieveMetadataChanges", **FOREVER, **what})

    if fault == "no privilege":
        # What may not be read is unknown, and all else is there.
        output = io.StringIO()
        call_command("refreshmetadata", stdout=output)
        told = output.getvalue()
        assert "Add it to a security role" in told
        report = io.StringIO()
        call_command("refreshmetadata", "--json", stdout=report)
        assert set(json.loads(report.getvalue())["missing_privileges"].values()) == {"prvReadThing"}
    else:
        with pytest.raises(CommandError) as raised:
            call_command("refreshmetadata", stdout=io.StringIO())
        told = str(raised.value)
        assert "stays in use" in told
        assert advised in told
    assert said in told

    # Another that has not failed yet: one that has leaves the platform alone for a while.
    hurried(remote)
    page = refreshed(dora)
    assert (advised if fault != "no privilege" else "Grant them in a security role") in page
    assert said in page


_CUSTOMIZATIONS = (
    "/EntityDefinitions|/RetrieveMetadataChanges|/GlobalOptionSetDefinitions|/customapis|/WhoAmI$"
    "|/RetrieveProvisionedLanguages"
)


def test_what_may_not_be_read_is_named_in_words(remote: Failing, dora: Client) -> None:
    remote.arm({"path": _CUSTOMIZATIONS, **FOREVER, **FAULTS["no privilege"][0]})
    output = io.StringIO()
    call_command("refreshmetadata", stdout=output)
    checked = io.StringIO()
    call_command("checkplatform", stdout=checked)
    page = dora.get(reverse("studio:platform"))

    for told in (output.getvalue(), checked.getvalue(), html.unescape(page.content.decode())):
        assert "which entities there are, languages, global option sets, processes, who the" in told
        assert re.search(r"metadata of the entities account, \w+", told)
        assert not re.search(r"entity/|optionsets|serviceuser", told)
    assert output.getvalue().count("Add it to a security role") == 1


@pytest.mark.parametrize("fault", ["429 with a time", "401", "a sign-in page", "a reset", "slow"])
def test_the_state_of_the_platform_names_the_fault(remote: Failing, dora: Client, fault: str) -> None:
    what, said, advised = FAULTS[fault]
    hurried(remote)
    remote.arm({"path": "/systemusers|/WhoAmI", **FOREVER, **what})

    text = dora.get(reverse("studio:platform")).content.decode().replace("&#x27;", "'")

    assert said in text
    assert advised in text


@pytest.mark.parametrize("path", ["/accounts", "/EntityDefinitions"])
@pytest.mark.parametrize("fault", ["429 without a time", "401", "a reset", "slow"])
def test_a_check_names_the_step_that_fails_and_what_to_do(remote: Failing, fault: str, path: str) -> None:
    what, said, advised = FAULTS[fault]
    if path == "/EntityDefinitions":
        DatabaseStore("https://contoso.example/").replace({})
    choose(remote_platform(remote))
    remote.arm({"path": path, **FOREVER, **what})

    output = io.StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("checkplatform", stdout=output)

    assert ("read account" if path == "/accounts" else "metadata") in str(raised.value)
    assert said in output.getvalue()
    assert advised in output.getvalue()


PARTS = {
    "/systemusers": ("who", ""),
    "/EntityDefinitions": ("metadata", ""),
    "/GlobalOptionSetDefinitions": ("metadata", "Not known: global option sets."),
    "/customapis": ("metadata", "Not known: processes."),
    r"/\$metadata": ("metadata", "Not known: processes."),
    "/RetrieveProvisionedLanguages": ("metadata", "Not known: languages."),
    "/roles": ("metadata", "Not known: security roles."),
    "/accounts": ("read account", ""),
}


@pytest.mark.parametrize("path", PARTS)
@pytest.mark.parametrize("fault", ["a gateway's 403", "429 without a time", "401", "a reset", "slow"])
def test_the_page_of_the_check_names_what_fails_once_and_asks_for_it_hardly_more_often(
    remote: Failing, dora: Client, fault: str, path: str
) -> None:
    what, said, advised = FAULTS[fault]
    step, part = PARTS[path]
    # Nothing is stored, as at a first start.
    choose(platform_at(remote.server, retries=0, timeout=SECONDS, metadata_timeout=SECONDS))
    remote.arm({"path": path, **FOREVER, **what})

    page = html.unescape(dora.post(reverse("studio:check_platform")).content.decode())

    failed = re.findall(r'<li class="step-refused">.*?</li>', page, re.DOTALL)
    assert len(failed) == 1, page
    for words in (f"<bdi>{step}</bdi>", part, said, advised):
        assert words in failed[0]
    # By the check and by the page, which shows what is ready. A refused token is fetched anew once.
    assert remote.struck()[0] <= 4


OAUTH = {"Content-Type": "application/json"}
TOKEN_FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "503": ({"status": 503, "body": "<html>"}, "The token endpoint answers 503.", "health of Entra ID"),
    "cut": ({"cut": "answer"}, "broke off.", "health of Entra ID"),
    "429": ({"status": 429}, "The token endpoint asks for a pause.", "Try again in 5 seconds."),
    "HTML": (
        {"status": 200, "body": "<html>"},
        "gave no token (status 200)",
        "CRM_AUTHORITY or CRM_TOKEN_URL",
    ),
    "no token endpoint": (
        {"status": 404, "headers": OAUTH, "body": '{"error": {"code": "0x0", "message": "Not found."}}'},
        "gave no token (status 404)",
        "CRM_AUTHORITY or CRM_TOKEN_URL and what is on the way",
    ),
    "an unknown reason": (
        {"status": 400, "headers": OAUTH, "body": '{"error": "out_of_tokens"}'},
        "gave no token (out_of_tokens, status 400)",
        "Check CRM_TENANT_ID",
    ),
}


@pytest.mark.parametrize("fault", TOKEN_FAULTS)
def test_a_token_that_cannot_be_had_is_no_matter_of_dataverse(
    remote: Failing, dora: Client, fault: str
) -> None:
    what, said, advised = TOKEN_FAULTS[fault]
    # The token at hand is refused, and another one is asked for.
    remote.arm(
        {"path": "/oauth2/", **FOREVER, **what}, {"path": "/systemusers|/WhoAmI$", "status": 401, **FOREVER}
    )

    page = html.unescape(dora.get(reverse("studio:platform")).content.decode())
    checked = io.StringIO()
    with pytest.raises(CommandError, match="token"):
        call_command("checkplatform", stdout=checked)

    for told in (page, checked.getvalue()):
        assert said in told
        assert advised in told
        assert not re.search("Power Platform|CRM_CLIENTS|CRM_URL", told)


@contextmanager
def _elsewhere(remote: Failing, url: str) -> Iterator[None]:
    """The organisation is at `url`, and the service has a token for it."""
    choose(DataversePlatform(Options(url, retries=0), credentials(remote.server.url)))
    yield
    forget_platform()


# More often than the platform may fail before it is left alone for a while.
OFTEN = 10


def test_a_host_without_an_address_is_named_for_as_long_as_it_lasts(remote: Failing, dora: Client) -> None:
    with _elsewhere(remote, "https://no.such.host.invalid"):
        pages = [dora.get(reverse("studio:views") + "?entity=account") for _ in range(OFTEN)]

    for page in pages:
        assert "There is no address for the name of the host" in page.json()["away"]
        assert "Correct CRM_URL, or the DNS here." in page.json()["away"]
    assert "is left alone for a while" in pages[-1].json()["away"]


def test_a_certificate_that_is_not_trusted_is_named_for_as_long_as_it_lasts(
    remote: Failing, dora: Client, tmp_path: Path
) -> None:
    with untrusted(tmp_path) as url, _elsewhere(remote, url):
        pages = [dora.get(reverse("studio:views") + "?entity=account") for _ in range(OFTEN)]

    for page in pages:
        assert "The certificate is not trusted (self-signed certificate)" in page.json()["away"]
        assert "set REQUESTS_CA_BUNDLE" in page.json()["away"]
    assert "is left alone for a while" in pages[-1].json()["away"]


def test_views_that_may_not_be_read_are_not_said_to_be_none(remote: Failing, dora: Client) -> None:
    remote.arm({"path": "/savedqueries|/userqueries", **FOREVER, **FAULTS["no privilege"][0]})

    answer = dora.get(reverse("studio:views") + "?entity=account")

    assert answer.status_code == 503
    assert "prvReadThing to its security role" in answer.json()["away"]


def test_that_the_organisations_views_may_not_be_read_is_said_beside_those_of_users(
    remote: Failing, dora: Client
) -> None:
    remote.arm({"path": "/savedqueries", **FOREVER, **FAULTS["no privilege"][0]})

    answer = dora.get(reverse("studio:views") + "?entity=account").json()

    assert [(view["name"], view["is_personal"]) for view in answer["views"]] == [
        ("Accounts of the last 30 days", True)
    ]
    assert "prvReadThing to its security role" in answer["denied"]

    remote.arm()
    assert dora.get(reverse("studio:views") + "?entity=account").json()["denied"] == ""


@pytest.mark.parametrize("fault", ["no privilege", "429 without a time", "401", "a reset", "slow"])
def test_an_export_of_metadata_says_what_to_do(remote: Failing, fault: str) -> None:
    what, said, advised = FAULTS[fault]
    DatabaseStore("https://contoso.example/").replace({})
    hurried(remote)
    remote.arm({"path": "/EntityDefinitions|/RetrieveMetadataChanges", **FOREVER, **what})

    with pytest.raises(CommandError) as raised:
        call_command("exportmetadata", stdout=io.StringIO())

    assert said in str(raised.value)
    assert advised in str(raised.value)


@pytest.mark.parametrize("fault", ["a gateway's 403", "429 for an hour", "a reset", "a sign-in page", "slow"])
def test_descriptions_that_cannot_be_made_say_what_to_do(remote: Failing, fault: str) -> None:
    what, said, advised = FAULTS[fault]
    DatabaseStore("https://contoso.example/").replace({})
    hurried(remote)
    remote.arm({"path": "/api/data/", **FOREVER, **what})

    with pytest.raises(CommandError) as raised:
        call_command("describe", stdout=io.StringIO())

    assert said in str(raised.value)
    assert advised in str(raised.value)


def test_an_organisation_that_is_not_read_says_what_to_do(remote: Failing, settings: Any) -> None:
    settings.PORTICO = {**settings.PORTICO, "METADATA_TIMEOUT": 60}
    remote.arm({"path": "/RetrieveMetadataChanges", **FAULTS["no privilege"][0], **FOREVER})

    for options in ((), ("--dry-run",), ("--json",)):
        with pytest.raises(CommandError) as raised:
            call_command(
                "importmetadata", "--organization", "--entities", "lead", *options, stdout=io.StringIO()
            )

        assert "lacks the privilege prvReadThing" in str(raised.value)
        assert "Add prvReadThing to its security role" in str(raised.value)
        assert "checkplatform" in str(raised.value)


def test_metadata_that_the_organisation_does_not_have_is_told_in_a_sentence(
    remote: Failing, dora: Client
) -> None:
    body = json.dumps({"error": {"code": "0x8006088a", "message": "Resource not found for the segment"}})
    remote.arm({"path": "/EntityDefinitions|/RetrieveMetadata", "status": 404, "body": body, **FOREVER})

    page = refreshed(dora)

    assert "The platform answers 404 0x8006088a: Resource not found for the segment. Something else" in page


@pytest.mark.parametrize("status", [429, 503])
def test_a_check_sends_nobody_to_another_address_when_the_organisation_is_only_busy(
    remote: Failing, status: int
) -> None:
    remote.arm({"path": "/WhoAmI", "status": status, "headers": {"Retry-After": "17"}, **FOREVER})

    output = io.StringIO()
    with pytest.raises(CommandError, match="address"):
        call_command("checkplatform", stdout=output)

    report = io.StringIO()
    with pytest.raises(CommandError, match="address"):
        call_command("checkplatform", "--json", stdout=report)

    assert f"answers {status}" in output.getvalue()
    assert "Try again in 17 seconds." in output.getvalue()
    assert "Set CRM_URL" not in output.getvalue()
    assert "Try again in 17 seconds." in "".join(step["advice"] for step in json.loads(report.getvalue()))


def test_a_fault_of_the_platform_itself_is_not_taken_for_a_wrong_address(remote: Failing) -> None:
    fault = {"status": 500, "body": '{"error": {"code": "0x80040216", "message": "An unexpected error."}}'}
    remote.arm({"path": "/api/", **fault, **FOREVER})

    output = io.StringIO()
    with pytest.raises(CommandError, match="address"):
        call_command("checkplatform", stdout=output)

    assert "Without a token it answers 500" in output.getvalue()
    assert "look at the service health in the Power Platform admin centre" in output.getvalue()
    assert "Set CRM_URL" not in output.getvalue()


def test_a_platform_that_is_slow_at_once_is_not_taken_for_a_blocked_network(remote: Failing) -> None:
    remote.arm({"path": "/WhoAmI", "delay": SECONDS * 3, **FOREVER})

    output = io.StringIO()
    with pytest.raises(CommandError, match="network"):
        call_command("checkplatform", stdout=output)

    assert "There was no answer in time." in output.getvalue()
    assert "If Dataverse stays slow, raise METADATA_TIMEOUT" in output.getvalue()
    assert "HTTPS_PROXY" not in output.getvalue()


def test_a_firewall_that_forbids_everything_is_not_taken_for_dataverse(remote: Failing, dora: Client) -> None:
    blocked = {"status": 403, "headers": {"Content-Type": "text/html"}, "body": "<html>Blocked</html>"}
    remote.arm({"path": "/api/|/oauth2/", **blocked, **FOREVER})

    output = io.StringIO()
    with pytest.raises(CommandError, match="address"):
        call_command("checkplatform", stdout=output)
    page = html.unescape(dora.post(reverse("studio:check_platform")).content.decode())

    for said in output.getvalue(), page:
        assert "Without a token it answers 403" in said
        assert "not Dataverse's answer" in said
        assert "a firewall or a proxy on the way" in said
        assert "security role" not in said


@pytest.mark.parametrize(
    ("asked_for", "said"),
    [
        ("1", "1 second"),
        ("90", "90 seconds"),
        ("91", "2 minutes"),
        ("900", "15 minutes"),
        ("3600", "1 hour"),
        ("999999", "1 hour"),
    ],
)
def test_a_pause_is_told_in_the_units_of_people(
    remote: Failing, dora: Client, asked_for: str, said: str
) -> None:
    remote.arm({"path": "/savedqueries", "status": 429, "headers": {"Retry-After": asked_for}, **FOREVER})

    assert f"Try again in {said}." in dora.get(reverse("studio:views") + "?entity=account").json()["away"]


def test_a_check_sends_nothing_while_the_platform_wants_a_pause(remote: Failing, dora: Client) -> None:
    remote.arm({"path": "/api/data/", "status": 429, "headers": {"Retry-After": "300"}, **FOREVER})
    with pytest.raises(Throttled):
        get_platform().query(Query("account", (Column("name"),), top=1))

    output = io.StringIO()
    with pytest.raises(CommandError, match="pause"):
        call_command("checkplatform", stdout=output)
    page = dora.post(reverse("studio:check_platform")).content.decode()

    assert remote.struck() == [1]
    for said in output.getvalue(), page:
        assert "The platform has asked the service to pause, and the pause is not over." in said
        assert "Try again in 5 minutes." in said


def test_a_query_that_the_platform_refuses_is_told_to_whoever_can_change_it(
    remote: Failing, dora: Client, rita: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    """Readiness finds nothing wrong with it. Callers, the log and the studio each get what helps them."""
    words = "The operator 'like' does not apply to the virtual entity “Secret Ltd”."
    body = json.dumps({"error": {"code": "0x80041103", "message": words}})
    User.objects.get(username="designer").user_permissions.add(*for_real())
    outages.forget()
    remote.arm({"path": "/accounts$", "status": 400, "body": body, **FOREVER})

    answer = rita.get("/api/sales/queries/accounts")
    assert (answer.status_code, answer.json()["code"]) == (502, "query_refused")
    assert "Retry-After" not in answer.headers
    assert "like" not in answer.content.decode()
    assert "studio" not in answer.json()["detail"]

    (fact,) = (line for line in caplog.records if line.name == "portico.failures")
    assert fact.__dict__["platform_code"] == "0x80041103"
    assert fact.__dict__["endpoint"] == "sales.paginated-query.accounts"

    row = Endpoint.objects.get(kind="paginated-query", name="accounts", module__segment="sales")
    run = dora.post(reverse("admin:designer_endpoint_run", args=[row.pk]), {"run": "1", "user": RITA_REP})
    assert words in html.unescape(run.content.decode())


def remote_platform(failing: Failing) -> DataversePlatform:
    """A client that knows nothing yet, and has a second for each request."""
    store = DatabaseStore("https://contoso.example/")
    return platform_at(failing.server, store=store, retries=0, timeout=SECONDS, metadata_timeout=SECONDS)

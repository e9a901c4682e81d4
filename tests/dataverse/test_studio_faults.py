"""The studio in front of a Dataverse that fails, of which nothing is known yet: pages and scripts are told
why, and what to do."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from lxml import html as lxml_html

from crmclient.dataverse.platform import DataversePlatform
from designer.models import Endpoint
from designer.studio.pages.attribute_pages import attribute_address
from tests.chosen_platform import choose, serving_with
from tests.dataverse.conftest import Failing
from tests.dataverse.reaching import platform_at
from tests.designer.studio import change_url, page
from tests.runtime.accounts import endpoint
from tests.webapi.crm import service

pytestmark = pytest.mark.processes

SLOW_SECONDS = 30.0
"""Longer than any page may take."""
SECONDS = 20.0
"""So long a page may take on a busy machine."""
FOREVER: dict[str, Any] = {"times": None}
JSON = {"Content-Type": "application/json"}
DENIED = '{"error": {"code": "0x80040220", "message": "Principal is missing prvReadThing privilege"}}'
GARBAGE = '{"value": [{"LogicalName": 5}, 7, null], "EntityMetadata": [null]}'
FAULTS: dict[str, dict[str, Any]] = {
    "no privilege": {"status": 403, "headers": JSON, "body": DENIED},
    "a gateway's 403": {"status": 403, "body": "<html>"},
    "429 with a time": {"status": 429, "headers": {"Retry-After": "17"}},
    "429 without a time": {"status": 429},
    "401": {"status": 401},
    "a reset": {"cut": "answer"},
    "garbage": {"status": 200, "headers": JSON, "body": GARBAGE},
    "no JSON": {"status": 200, "headers": JSON, "body": "{{{"},
    "slow": {"delay": SLOW_SECONDS},
}


@pytest.fixture
def remote(portico: None, failing: Failing, settings: Any) -> Iterator[Failing]:
    """The service's platform is Dataverse. Nothing is known of it, as at a first start."""
    with serving_with(_impatient(failing, 20), settings):
        yield failing
        failing.arm()


def _impatient(failing: Failing, seconds: float) -> DataversePlatform:
    return platform_at(failing.server, retries=0, timeout=seconds)


@pytest.fixture
def ada(portico: None) -> Client:
    """The studio, logged in as its administrator."""
    client = Client()
    client.force_login(
        User.objects.get(username="admin"), backend="django.contrib.auth.backends.ModelBackend"
    )
    return client


def test_an_entity_is_described_without_links_to_entities_that_cannot_be_queried(
    remote: Failing, dora: Client
) -> None:
    """Real organisations have entities without an entity set, to which others have relationships."""
    definitions = service(remote.server).get("EntityDefinitions", params={"$expand": "Keys"})
    for definition in definitions["value"]:
        if definition["LogicalName"] == "opportunity":
            definition["EntitySetName"] = None
    remote.arm({"path": "/EntityDefinitions$", "headers": JSON, "body": json.dumps(definitions), **FOREVER})

    account = page(dora, f"{reverse('studio:metadata')}?entity=account").json()

    linked = {link["entity"] for link in account["links"]}
    assert "contact" in linked
    assert "opportunity" not in linked


SCRIPTS = {
    "metadata": ("studio:metadata", "", "/EntityDefinitions"),
    "metadata of an entity": ("studio:metadata", "?entity=account", "/EntityDefinitions"),
    "views": ("studio:views", "?entity=account", "/savedqueries"),
    "records": ("studio:records", "?entity=account&search=a", "/accounts"),
}
SAID = {
    "a gateway's 403": ("The platform answers 403.", "a sign-in page"),
    "429 with a time": ("The platform answers 429.", "Try again in 17 seconds."),
    "429 without a time": ("The platform answers 429.", "Try again in 5 seconds."),
    "401": ("refuses the service's token", "as an application user"),
    "a reset": ("broke off", "service health"),
    "garbage": ("", "a sign-in page"),
    "no JSON": ("is not JSON", "a sign-in page"),
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("fault", SAID)
def test_scripts_are_told_why_there_is_no_answer_and_what_to_do(
    remote: Failing, ada: Client, fault: str, script: str
) -> None:
    name, query, path = SCRIPTS[script]
    said, advised = SAID[fault]
    remote.arm({"path": path, **FOREVER, **FAULTS[fault]})

    answer = ada.get(reverse(name) + query)

    assert answer.status_code == 503
    for words in (said, advised):
        assert words in answer.json()["away"]


def test_scripts_are_told_to_wait_for_metadata_that_is_being_fetched(remote: Failing, dora: Client) -> None:
    remote.arm({"path": "/EntityDefinitions", **FOREVER, **FAULTS["slow"]})

    answer = dora.get(reverse("studio:metadata"))

    assert answer.status_code == 503
    assert answer.json()["away"] == "The platform's metadata is being fetched. Try again in a moment."


@pytest.mark.parametrize("language", ["de", "ar"])
@pytest.mark.parametrize("fault", ["a gateway's 403", "429 with a time", "401", "a reset", "no JSON"])
def test_why_the_platform_fails_is_said_in_the_language_of_the_reader(
    remote: Failing, dora: Client, fault: str, language: str
) -> None:
    remote.arm({"path": "/EntityDefinitions", **FOREVER, **FAULTS[fault]})

    answer = dora.get(reverse("studio:expose"), headers={"Accept-Language": language})

    shown = html.unescape(answer.content.decode())
    (said,) = re.findall(r'<p class="studio-refused" role="alert">(.*?)</p>', shown)
    assert SAID[fault][0] not in said
    assert SAID[fault][1] not in said
    assert not re.search(r"\b(the|broke|try|answer\w*|refuses)\b", said, re.IGNORECASE), said


PATHS = (
    *("/EntityDefinitions", "/RetrieveMetadataChanges", "/GlobalOptionSetDefinitions", "/customapis"),
    *(r"/\$metadata", "/RetrieveProvisionedLanguages", "/systemusers", "/roles"),
)
PAGES = (
    *("admin:index", "studio:expose", "studio:new_query", "studio:matrix", "studio:attributes"),
    *("studio:translations", "studio:caller_rights", "studio:view_as", "studio:platform"),
    *("admin:designer_role_add", "admin:designer_callertype_add", "admin:designer_userproperty_add"),
    *("admin:designer_optionset_add", "admin:runtime_apikey_add"),
)
UNUSED = attribute_address("account", "fax")
SLOW = (
    ("/EntityDefinitions", "admin:index"),
    ("/EntityDefinitions", "studio:expose"),
    ("/GlobalOptionSetDefinitions", "admin:designer_optionset_add"),
    ("/roles", "admin:designer_role_add"),
    ("/systemusers", "admin:runtime_apikey_add"),
    ("/systemusers", "studio:platform"),
)


def _addresses() -> list[str]:
    """Those of PAGES, of two endpoints, of where these are tried, and of an attribute that nothing uses."""
    rows = (endpoint("create"), Endpoint.objects.get(kind="paginated-query", name="accounts"))
    tried = [reverse("admin:designer_endpoint_try", args=[row.pk]) for row in rows]
    return [*(reverse(name) for name in PAGES), *map(change_url, rows), *tried, UNUSED]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fault", ["no privilege", "a gateway's 403", "garbage"])
def test_every_page_comes_whatever_the_platform_answers(
    remote: Failing, ada: Client, fault: str, path: str
) -> None:
    remote.arm({"path": path, **FOREVER, **FAULTS[fault]})

    statuses = {address: ada.get(address).status_code for address in _addresses()}

    assert set(statuses.values()) == {200}, statuses


def _sent_from(shown: Any, address: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Where each form of a page goes, and what a browser without scripts sends of it as it is."""
    document = lxml_html.document_fromstring(shown.content)
    for form in document.forms:  # type: ignore[attr-defined]  # not in the stubs
        action = form.get("action") or address
        if form.method == "POST" and action != reverse("admin:logout"):
            yield action, dict(form.form_values())


@pytest.mark.parametrize("fault", ["no privilege", "a gateway's 403", "garbage"])
def test_every_form_is_taken_or_refused_whatever_the_platform_answers(
    remote: Failing, ada: Client, fault: str
) -> None:
    remote.arm(*({"path": path, **FOREVER, **FAULTS[fault]} for path in PATHS))
    forms = [form for address in _addresses() for form in _sent_from(ada.get(address), address)]

    statuses = {action: ada.post(action, values).status_code for action, values in forms}

    assert len(forms) > 15
    # 404: the matrix, without the button that says what is to change.
    assert set(statuses.values()) <= {200, 302, 404, 422, 503}, statuses


@pytest.mark.parametrize(("path", "name"), SLOW)
def test_no_page_waits_long_for_a_slow_platform(remote: Failing, ada: Client, path: str, name: str) -> None:
    choose(_impatient(remote, 1))
    remote.arm({"path": path, **FOREVER, **FAULTS["slow"]})

    began = time.monotonic()
    page(ada, reverse(name))

    # Three seconds for metadata, and one for each question about records.
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize("fault", ["a gateway's 403", "slow"])
def test_attributes_are_not_said_to_be_there_while_nobody_knows_it(
    remote: Failing, dora: Client, fault: str
) -> None:
    remote.arm({"path": "/EntityDefinitions|/RetrieveMetadataChanges", **FOREVER, **FAULTS[fault]})

    shown = page(dora, reverse("studio:attributes")).content.decode()

    assert "not known" in shown
    assert "is there" not in shown


def test_an_attribute_is_not_replaced_by_one_that_nobody_knows_now(remote: Failing, ada: Client) -> None:
    remote.arm(
        {"path": "/EntityDefinitions|/RetrieveMetadataChanges", **FOREVER, **FAULTS["a gateway's 403"]}
    )

    answer = ada.post(attribute_address("account", "name"), {"new": "fax", "do": "replace"})

    assert answer.status_code == 422
    assert "does not return its metadata at the moment" in html.unescape(answer.content.decode())


def test_the_dashboard_says_once_that_the_platform_does_not_return_its_metadata(
    remote: Failing, dora: Client
) -> None:
    remote.arm({"path": "/EntityDefinitions|/RetrieveMetadataChanges", **FOREVER, **FAULTS["401"]})

    shown = page(dora, reverse("admin:index")).content.decode()

    assert shown.count("not everything could be checked") == 1

"""*Check the connection*: what the page shows of the way to the platform, and how long it takes at most."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from crmclient.dataverse.checkup import Outcome, Step
from designer.models import AuditEntry
from designer.platform_check import CheckUnderWay, PlatformCheck, platform_check
from tests.servers import until

GOOD = Step("network", Outcome.GOOD, "It answers.")
BAD = Step("token", Outcome.FAILED, "The secret is wrong.", "Enter the secret's value.")


def test_steps_come_in_their_order_and_the_check_says_that_these_are_all() -> None:
    check = PlatformCheck()
    check.provide(lambda: iter([GOOD, BAD]))

    checked = check.run(60)

    assert (checked.steps, checked.is_whole) == ((GOOD, BAD), True)


def test_a_step_that_hangs_is_not_waited_for_and_no_second_check_begins_meanwhile() -> None:
    check, answered = PlatformCheck(), threading.Event()

    def steps() -> Iterator[Step]:
        yield GOOD
        answered.wait()
        yield BAD

    check.provide(steps)
    # The first step is in the queue by then, however busy the machine is: it is waited for.
    checked = check.run(5)
    assert not checked.is_whole
    assert BAD not in checked.steps
    with pytest.raises(CheckUnderWay):
        check.run(5)

    answered.set()
    check.provide(lambda: iter([GOOD]))

    def goes_again() -> bool:
        try:
            return check.run(60).is_whole
        except CheckUnderWay:
            return False

    until(goes_again)


def test_an_error_that_nobody_foresaw_ends_the_check_and_not_the_page() -> None:
    check = PlatformCheck()

    def steps() -> Iterator[Step]:
        yield GOOD
        raise ZeroDivisionError

    check.provide(steps)
    checked = check.run(60)

    assert (checked.steps, checked.is_whole, checked.has_broken_off) == ((GOOD,), False, True)


def test_the_crm_in_the_box_has_nothing_to_reach(portico: None, dora: Client) -> None:
    page = dora.get(reverse("studio:check_platform"))

    assert page.status_code == 200
    assert "there is nothing to reach" in page.content.decode()


@pytest.mark.parametrize(
    ("platform", "url", "said"),
    [
        ("embedded", "https://contoso.crm.dynamics.com", "The platform is the CRM in the box"),
        ("contoso", "", "The platform is “contoso”, which a package brings."),
        ("contoso", "https://contoso.crm.dynamics.com", "The platform is “contoso”, which a package brings."),
    ],
)
def test_what_is_said_is_of_the_platform_in_use_and_not_of_an_organisation_that_is_only_named(
    portico: None, dora: Client, settings: Any, platform: str, url: str, said: str
) -> None:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": platform, "CRM_URL": url}
    page = dora.get(reverse("studio:check_platform")).content.decode()
    assert said in page
    assert "<button" not in page.partition("<main")[2].partition("</main")[0]
    printed = io.StringIO()
    call_command("checkplatform", stdout=printed)
    assert said in printed.getvalue()


def test_the_page_shows_each_step_with_what_to_do_and_is_audited(
    portico: None, dora: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PORTICO = {**settings.PORTICO, "CRM_URL": "https://contoso.crm.dynamics.com"}
    monkeypatch.setattr(platform_check, "_steps", lambda: iter([GOOD, BAD]))

    answer = dora.post(reverse("studio:check_platform"))

    page = answer.content.decode().replace("&#x27;", "'")
    assert answer.status_code == 200
    for words in ("1 step failed", "It answers.", "The secret is wrong.", "Enter the secret's value."):
        assert words in page
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.subject, entry.detail) == ("try", "platform", "failed: token")

"""API accounts made by a command."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from crmbox.demo.people import AYA_AGENT, CLARA_CUSTOMER, RITA_REP
from crmbox.platform import EmbeddedPlatform
from crmclient.errors import Unavailable
from crmclient.query.ast import ALL, Page, Query
from crmclient.values import QueryResult
from designer.models import AuditEntry
from designer.platform import get_platform
from designer.running_command import run_as
from runtime.models import ApiAccount
from tests.callers import account

pytestmark = pytest.mark.usefixtures("portico")

PASSWORD = "a long and winding road"


def make(*arguments: str) -> str:
    out = io.StringIO()
    with run_as("makeaccount"):
        call_command("makeaccount", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_an_account_gets_tokens_with_the_password_that_is_shown_once() -> None:
    said = make("petra", "--role", "sales-rep", "--record", RITA_REP, "--rate", "600")
    password = said.strip().rpartition(" ")[2]
    assert account("petra", password).get("/api/context").status_code == 200
    made = ApiAccount.objects.get(user__username="petra")
    assert ([role.name for role in made.roles.all()], made.rate) == (["sales-rep"], 600)
    entries = AuditEntry.objects.filter(account="manage.py makeaccount")
    assert {entry.subject for entry in entries} == {"user: petra", "API account: petra"}
    told = " ".join(entry.detail for entry in entries)
    assert "sales-rep" in told
    assert password not in told


def test_a_password_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    said = make(
        "chris", "--type", "contact", "--record", CLARA_CUSTOMER, "--role", "customer", "--password-stdin"
    )
    assert PASSWORD not in said
    assert account("chris", PASSWORD).get("/api/context").status_code == 200


def test_an_account_without_its_record_is_made_with_a_warning() -> None:
    said = make("petra", "--type", "contact")
    assert "It is of the type “contact” and has no record" in said
    assert "give --record" in said


@pytest.mark.parametrize("typed", [RITA_REP.upper(), f"{{{RITA_REP}}}"])
def test_a_platform_user_is_given_by_the_id_in_any_form(typed: str) -> None:
    assert "The account petra was made." in make(" petra ", "--record", typed)
    assert str(ApiAccount.objects.get(user__username="petra").record) == RITA_REP


def test_a_platform_user_may_be_one_that_no_list_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.callers.platform_users.MOST", 1)
    for name, user in (("petra", RITA_REP), ("paul", AYA_AGENT)):
        make(name, "--record", user)


class AwayPlatform(EmbeddedPlatform):
    """A platform that does not answer."""

    def query(self, query: Query, page: Page = ALL, **options: Any) -> QueryResult:
        raise Unavailable("It is away.")


@pytest.fixture
def away(settings: Any) -> Iterator[None]:
    settings.PORTICO = {**settings.PORTICO, "PLATFORM": f"{__name__}.AwayPlatform"}
    get_platform.cache_clear()
    yield
    get_platform.cache_clear()


def test_a_platform_that_is_away_is_the_reason(away: None) -> None:
    with pytest.raises(CommandError, match=r"--record: It is away\."):
        make("petra", "--record", RITA_REP)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("rep",), "username: An account of the API or of the studio has this name."),
        (("two words",), "username: "),
        (("petra", "--role", "nobody"), "--role: There is no role nobody. Known: customer, sales-manager"),
        (
            ("petra", "--type", "robot"),
            "There is no caller type robot. Known: contact, service, user.",
        ),
        (("petra", "--record", "11111111-1111-1111-1111-111111111111"), "--record: "),
        (
            ("petra", "--type", "service", "--record", RITA_REP),
            "--record: Callers of this type have no record",
        ),
        (("petra", "--rate", "-1"), "--rate: "),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_by_its_option_and_nothing_is_made(
    arguments: tuple[str, ...], why: str
) -> None:
    before = set(ApiAccount.objects.values_list("user__username", flat=True))
    with pytest.raises(CommandError) as refusal:
        make(*arguments)
    assert str(refusal.value).startswith("No account was made.\n")
    assert why in str(refusal.value)
    assert set(ApiAccount.objects.values_list("user__username", flat=True)) == before

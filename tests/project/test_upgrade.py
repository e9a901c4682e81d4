"""An installation of 0.1 that is brought to this release: nothing in it is lost, and callers notice nothing.

`upgrade/database.sql` is the SQLite database of an installation that 0.1 made with its demo, and in which
people then worked: endpoints edited in the studio, a release, accounts of their own. `answers.json` is what
0.1 answered from it, and `configuration.json` what it exported.
"""

from __future__ import annotations

import datetime as dt
import html
import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.clocks import clock_begun_at
from tests.servers import ANSWER_SECONDS, Server, Site, site_at
from tests.webapi.crm import service

KEPT = Path(__file__).parent / "upgrade"
# Cursors of 0.1 hold for a day: those that were kept are asked for on the day on which it gave them.
DAY_OF_THE_ANSWERS = dt.datetime(2026, 11, 23, 6, tzinfo=dt.UTC)
KEYS = {
    "SECRET_KEY": "the-secret-key-of-the-upgraded-installation-00000001",
    "TOKEN_SIGNING_KEY": "the-signing-key-of-the-upgraded-installation-0001",
}


def kept(name: str) -> Any:
    return json.loads((KEPT / name).read_text(encoding="utf-8"))


def database_of_0_1(folder: Path) -> Path:
    database = folder / "portico.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.executescript((KEPT / "database.sql").read_text(encoding="utf-8"))
    connection.close()
    return database


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("upgraded")
    database = database_of_0_1(folder)
    site = site_at(folder, **KEYS, DATABASE_URL=f"sqlite:///{database}")
    site.manage("prepare")
    yield site
    site.stop()


@pytest.fixture(scope="module")
def server(upgraded: Site) -> Server:
    return upgraded.start()


@pytest.fixture(scope="module")
def server_of_that_day(upgraded: Site) -> Server:
    return upgraded.start(**clock_begun_at(DAY_OF_THE_ANSWERS))


@pytest.fixture(scope="module")
def tokens(server_of_that_day: Server) -> dict[str | None, str]:
    return {name: server_of_that_day.token(name) for name in ("rep", "manager", "agent", "clerk")}


@pytest.mark.parametrize(
    "answered", kept("answers.json"), ids=lambda answered: f"{answered['account']} {answered['path'][:40]}"
)
def test_callers_get_what_they_got(
    server_of_that_day: Server, tokens: dict[str | None, str], answered: dict[str, Any]
) -> None:
    account = answered["account"]
    headers = {"Authorization": f"Bearer {tokens[account]}"} if account else {}

    answer = server_of_that_day.request("GET", answered["path"], headers=headers)

    assert answer.status_code == answered["status"], answer.text
    body = answer.json()
    if answer.status_code >= 400:
        body = {"code": body["code"]}
    elif isinstance(body, dict):
        body.pop("cursor", None)  # sealed anew each time
    assert body == answered["body"]


def test_the_configuration_says_what_it_said(upgraded: Site) -> None:
    before = kept("configuration.json")
    for exposed in before["entities"]:
        # The one filter of a row rule is the entry of everyone now.
        if "row_rule" in exposed:
            exposed["row_rule"] = [{"filter": exposed["row_rule"]}]
    after = json.loads(upgraded.manage("exportconfig"))

    assert list(lost(before, after)) == []


def test_a_document_of_0_1_changes_nothing_that_it_says(upgraded: Site, tmp_path: Path) -> None:
    document = tmp_path / "document.json"
    document.write_text(json.dumps(kept("configuration.json")), encoding="utf-8")
    before = json.loads(upgraded.manage("exportconfig"))

    upgraded.manage("importconfig", str(document))

    assert json.loads(upgraded.manage("exportconfig")) == before


def test_the_studio_opens_each_page_of_what_was_made(server: Server) -> None:
    studio = signed_in(server, "admin")
    pages = ("", "versions/", "releases/", "designer/endpoint/", "designer/module/", "auth/user/")

    for page in pages:
        answer = studio.get(f"{server.url}/admin/{page}", timeout=ANSWER_SECONDS)
        assert answer.status_code == 200, page
    for row in re.findall(r'href="(/admin/designer/endpoint/\d+/change/)', found_at(studio, server)):
        assert studio.get(server.url + row, timeout=ANSWER_SECONDS).status_code == 200, row


def test_versions_and_the_release_of_before_are_there(server: Server) -> None:
    studio = signed_in(server, "admin")

    row = re.findall(r'href="(/admin/designer/endpoint/\d+/)change/', found_at(studio, server))
    histories = [studio.get(f"{server.url}{one}history/", timeout=ANSWER_SECONDS).text for one in set(row)]
    releases = studio.get(f"{server.url}/admin/releases/", timeout=ANSWER_SECONDS).text

    assert [text for text in histories if "Make an account" in text and "New customer" in text]
    assert "First" in releases


def test_a_migration_changes_the_database_that_is_migrated(upgraded: Site, tmp_path: Path) -> None:
    """Django's `migrate --database` names one, beside the one that the service works on."""
    site = site_at(tmp_path / "new", **KEYS, DATABASE_URL=f"sqlite:///{tmp_path}/new.sqlite3")
    site.manage("prepare")
    other = database_of_0_1(tmp_path)
    script = f"""
from django.core.management import call_command
from django.db import connection, connections
connections.databases["other"] = {{**connection.settings_dict, "NAME": "{other}"}}
call_command("migrate", database="other", verbosity=0)
"""
    before = site.manage("exportconfig")

    site.manage("shell", "-v", "0", "-c", script)

    assert site.manage("exportconfig") == before
    migrated = site_at(tmp_path / "other", **KEYS, DATABASE_URL=f"sqlite:///{other}")
    assert migrated.manage("exportconfig") == upgraded.manage("exportconfig")


def test_a_viewer_of_before_may_still_only_look(server: Server) -> None:
    studio = signed_in(server, "viewer")

    assert studio.get(f"{server.url}/admin/designer/endpoint/", timeout=ANSWER_SECONDS).status_code == 200
    assert studio.get(f"{server.url}/admin/designer/endpoint/add/", timeout=ANSWER_SECONDS).status_code == 403


def test_pairs_have_the_names_of_dataverse_and_their_records(upgraded: Site, tmp_path: Path) -> None:
    with sqlite3.connect(database_of_0_1(tmp_path)) as connection:
        (before,) = connection.execute("SELECT count(*) FROM e_teammembership").fetchone()
        (roles_before,) = connection.execute("SELECT count(*) FROM e_systemuserroles").fetchone()
    connection.close()
    crm = service(upgraded.start_crm())

    assert len(crm.get("teammemberships")["value"]) == before > 0
    assert len(crm.get("systemuserrolescollection")["value"]) == roles_before > 0
    assert crm.error("GET", "teammembership_set")[0] == 404
    sets = "EntityDefinitions(LogicalName='{}')?$select=EntitySetName"
    assert crm.get(sets.format("teammembership"))["EntitySetName"] == "teammemberships"


def test_administrators_of_before_may_set_up_who_calls(upgraded: Site) -> None:
    """Groups are given their permissions when they are made: those that were there get the new ones, too."""
    asked = """
from django.contrib.auth.models import Group
for group in Group.objects.order_by("name"):
    models = ("issuer", "rolerule", "registration", "refusalcount")
    names = group.permissions.filter(content_type__model__in=models)
    print(group.name, *sorted(names.values_list("codename", flat=True)))
"""
    said = upgraded.manage("shell", "-v", "0", "-c", asked)
    may = {group: set(names) for group, *names in (line.split() for line in said.splitlines() if line)}
    verbs = ("add", "change", "delete", "view")
    assert may["Administrator"] == {
        *(f"{verb}_{model}" for verb in verbs for model in ("issuer", "rolerule")),
        *(f"{verb}_{model}" for verb in verbs[2:] for model in ("registration", "refusalcount")),
    }
    assert may["Viewer"] == may["Designer"] == may["Publisher"] == set()


def test_creates_under_a_row_rule_go_on_and_the_dashboard_says_so(tmp_path: Path) -> None:
    """In 0.1 no create heeded a row rule. The upgrade itself edits such endpoints."""
    database = database_of_0_1(tmp_path)
    rule = '<filter><condition attribute="revenue" operator="gt" value="1000"/></filter>'
    with sqlite3.connect(database) as connection:
        connection.execute(
            "UPDATE designer_exposedentity SET row_rule = ? WHERE segment = 'accounts'", [rule]
        )
    connection.close()
    site = site_at(tmp_path, **KEYS, DATABASE_URL=f"sqlite:///{database}")

    assert "failed" not in site.manage("prepare")

    try:
        server = site.start()
        caller = {"Authorization": f"Bearer {server.token('rep')}"}
        made = server.request("POST", "/api/sales/accounts", json={"name": "Small"}, headers=caller)
        dashboard = signed_in(server, "admin").get(f"{server.url}/admin/", timeout=ANSWER_SECONDS).text
    finally:
        site.stop()
    assert made.status_code == 200, made.text
    assert "It may create records outside the row rule" in html.unescape(dashboard)


def test_preparing_again_changes_nothing(upgraded: Site) -> None:
    before = upgraded.manage("exportconfig")

    upgraded.manage("prepare")

    assert upgraded.manage("exportconfig") == before


def lost(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Where `after` lacks what `before` says. What it says beside that is new."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if name == "format":
                continue
            yield from lost(value, after.get(name), f"{place}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        if all(isinstance(item, str) for item in before):
            # Sets are written in the order of the alphabet today.
            before, after = sorted(before), sorted(after)
        for at, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from lost(old, new, f"{place}[{at}]")
    elif before != after:
        yield f"{place}: {before!r} became {after!r}"


def signed_in(server: Server, username: str) -> requests.Session:
    studio = requests.Session()
    login = f"{server.url}/admin/login/"
    studio.get(login, timeout=ANSWER_SECONDS)
    data = {
        "username": username,
        "password": "demo",
        "next": "/admin/",
        "csrfmiddlewaretoken": studio.cookies["csrftoken"],
    }
    answer = studio.post(login, data, headers={"Referer": login}, timeout=ANSWER_SECONDS)
    assert answer.status_code == 200
    assert not answer.url.startswith(login)
    return studio


def found_at(studio: requests.Session, server: Server) -> str:
    return studio.get(f"{server.url}/admin/designer/endpoint/", timeout=ANSWER_SECONDS).text

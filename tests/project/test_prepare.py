from __future__ import annotations

import re

import pytest

from tests.servers import Site

pytestmark = pytest.mark.processes


def endpoints(site: Site) -> int:
    return int(ask(site, "from designer.models import Endpoint; print(Endpoint.objects.count())"))


def ask(site: Site, code: str) -> str:
    return site.manage("shell", "-v", "0", "-c", code)


def test_the_demo_is_loaded_only_into_an_empty_database(site: Site) -> None:
    ask(site, "from designer.models import Endpoint; Endpoint.objects.all().delete()")
    assert "loading the demo" not in site.manage("prepare")
    assert endpoints(site) == 0


def test_an_account_of_ones_own_keeps_the_demo_out(empty_site: Site) -> None:
    empty_site.manage("migrate")
    me = {"USERNAME": "me", "EMAIL": "me@example.org", "PASSWORD": "a good password"}
    empty_site.manage(
        "createsuperuser", "--noinput", **{f"DJANGO_SUPERUSER_{key}": value for key, value in me.items()}
    )
    assert "loading the demo" not in empty_site.manage("prepare")
    assert endpoints(empty_site) == 0


def test_production_gets_no_demo(empty_site: Site) -> None:
    empty_site.manage(
        "prepare",
        PORTICO_MODE="production",
        SECRET_KEY="s" * 32,
        TOKEN_SIGNING_KEY="t" * 32,
        ALLOWED_HOSTS="localhost",
    )
    assert endpoints(empty_site) == 0


def test_the_demo_can_be_declined(empty_site: Site) -> None:
    empty_site.manage("prepare", "--no-demo")
    assert endpoints(empty_site) == 0


def test_on_an_address_others_reach_the_demos_passwords_are_random_and_shown_once(site: Site) -> None:
    output = site.manage("prepare", HOST="0.0.0.0")
    shown = dict(re.findall(r"^  (\w+) +(\S{16})$", output, re.MULTILINE))
    assert set(shown) == {"rep", "manager", "agent", "designer", "admin"}
    assert len(set(shown.values())) == 5
    assert "rep" not in site.manage("prepare", HOST="0.0.0.0")
    server = site.start()
    assert server.token("rep", shown["rep"])
    assert (
        server.request("POST", "/api/token", json={"username": "rep", "password": "demo"}).status_code == 401
    )

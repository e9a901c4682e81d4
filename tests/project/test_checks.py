from __future__ import annotations

import ast
import os
import re
import secrets
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from pytest_django import Settings

from project.checks import TAG, refuse_a_wrong_start
from tests.servers import ROOT, Site

KEYS = {"SECRET_KEY": secrets.token_urlsafe(48), "TOKEN_SIGNING_KEY": secrets.token_urlsafe(48)}
PRODUCTION_PAGE = ROOT / "docs" / "operations.md"
EACH_KEY = [("SECRET_KEY", "portico.E001"), ("TOKEN_SIGNING_KEY", "portico.E002")]


@pytest.fixture
def production(settings: Settings, db: None) -> Settings:
    """Everything as production needs it: each test spoils one thing."""
    settings.DEVELOPMENT = False
    settings.SECRET_KEY = KEYS["SECRET_KEY"]
    settings.TOKEN_SIGNING_KEY = KEYS["TOKEN_SIGNING_KEY"]
    settings.ALLOWED_HOSTS = ["api.example.org"]
    return settings


def found() -> list[str | None]:
    return [message.id for message in run_checks(tags=[TAG])]


def ids_of_checks() -> Iterator[tuple[str, str]]:
    """Yield each id of a check in the source, and the function that has it."""
    for folder in ("runtime", "project"):
        for path in (ROOT / folder).rglob("*.py"):
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef):
                    for id in re.findall(r"portico\.[EW]\d{3}", ast.unparse(function)):
                        yield id, f"{path.name}: {function.name}"


def test_no_two_checks_have_the_same_id() -> None:
    functions: defaultdict[str, set[str]] = defaultdict(set)
    for id, function in ids_of_checks():
        functions[id].add(function)
    assert len(functions) > 15
    assert {id: names for id, names in functions.items() if len(names) > 1} == {}


def test_dataverse_without_its_address_does_not_start(production: Settings) -> None:
    production.PORTICO = {**production.PORTICO, "PLATFORM": "dataverse", "CRM_URL": ""}
    assert found() == ["portico.E023"]


def test_a_production_with_keys_and_hosts_starts(production: Settings) -> None:
    assert found() == []
    refuse_a_wrong_start()


def test_development_needs_none_of_it(settings: Settings, db: None) -> None:
    assert settings.DEVELOPMENT
    assert found() == []


@pytest.mark.parametrize(("name", "id"), EACH_KEY)
def test_production_refuses_the_development_key(production: Settings, name: str, id: str) -> None:
    setattr(production, name, production.DEVELOPMENT_KEY)
    assert found() == [id]


@pytest.mark.parametrize(("name", "id"), EACH_KEY)
def test_production_refuses_a_short_key(production: Settings, name: str, id: str) -> None:
    setattr(production, name, "k" * 31)
    assert found() == [id]


def test_production_refuses_one_key_for_both(production: Settings) -> None:
    production.TOKEN_SIGNING_KEY = production.SECRET_KEY
    assert found() == ["portico.E003"]


@pytest.mark.parametrize("hosts", [[], ["*"], ["api.example.org", "*"]])
def test_production_refuses_to_answer_to_every_host(production: Settings, hosts: list[str]) -> None:
    production.ALLOWED_HOSTS = hosts
    assert found() == ["portico.E004"]


def test_production_refuses_debug(production: Settings) -> None:
    production.DEBUG = True
    assert found() == ["portico.E005"]


@pytest.mark.parametrize("username", ["rep", "admin"])
def test_production_refuses_a_demo_account_as_it_came(production: Settings, username: str) -> None:
    get_user_model().objects.create_user(username, password="demo")
    assert found() == ["portico.E006"]


def test_production_takes_a_demo_name_with_a_password_of_its_own(production: Settings) -> None:
    get_user_model().objects.create_user("admin", password="no longer the demo's")
    assert found() == []


@pytest.mark.parametrize("name", ["PLATFORM", "USER_RESOLVER"])
@pytest.mark.parametrize("path", ["", "nowhere", "project.nowhere", "project.platform.nothing"])
def test_a_dotted_path_to_nothing_is_named(settings: Settings, db: None, name: str, path: str) -> None:
    settings.PORTICO = {**settings.PORTICO, name: path}
    assert found() == ["portico.E007"]


@pytest.mark.parametrize("zone", ["Berlin", "", "../etc/passwd", "Europe/Atlantis"])
def test_an_unknown_time_zone_is_named(settings: Settings, db: None, zone: str) -> None:
    settings.PORTICO = {**settings.PORTICO, "CRM_TIME_ZONE": zone}
    assert found() == ["portico.E008"]


@pytest.mark.parametrize(
    "origin", ["*", "null", "portal.example.org", "https://", "https://portal.example.org/", "https://*.org"]
)
def test_what_is_no_origin_is_named(settings: Settings, db: None, origin: str) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://portal.example.org", origin]
    assert found() == ["portico.E019"]


def test_origins_of_browsers_are_taken(settings: Settings, db: None) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://portal.example.org", "http://localhost:5173", "http://[::1]:80"]
    assert found() == []


def test_an_upload_folder_that_is_not_there_is_named(settings: Settings, db: None) -> None:
    settings.PORTICO = {**settings.PORTICO, "UPLOAD_FOLDER": "/nowhere/at/all"}
    assert found() == ["portico.E009"]


def test_several_workers_without_a_shared_cache_are_warned_of(settings: Settings, db: None) -> None:
    settings.PORTICO = {**settings.PORTICO, "WORKERS": 2, "CACHE_URL": ""}
    assert found() == ["portico.W001"]
    settings.PORTICO = {**settings.PORTICO, "CACHE_URL": "redis://127.0.0.1:6379/9"}
    assert found() == []


def test_every_error_is_told_at_once_and_says_what_to_do(production: Settings) -> None:
    production.SECRET_KEY = "short"
    production.ALLOWED_HOSTS = []
    with pytest.raises(SystemExit, match=r"(?s)portico\.E001.*HINT.*portico\.E004.*HINT"):
        refuse_a_wrong_start()


@pytest.mark.processes
def test_a_server_program_cannot_load_a_wrong_production(empty_site: Site) -> None:
    environment = {**empty_site.environment, "PORTICO_MODE": "production"}
    done = subprocess.run(
        [sys.executable, "-c", "import project.wsgi"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "portico.E001" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.processes
def test_no_service_starts_for_every_origin(empty_site: Site) -> None:
    production = {"PORTICO_MODE": "production", "ALLOWED_HOSTS": "localhost", **KEYS}
    for mode in ({}, production):
        code, output = empty_site.run("serve", CORS_ORIGINS="*", **mode)
        assert code == 1
        assert "CORS_ORIGINS lists what is no origin: *." in output
        assert output.count("HINT") == 1


@pytest.mark.processes
def test_the_documented_production_passes_djangos_own_checks(empty_site: Site) -> None:
    documented = dict(re.findall(r"^    export (\w+)=(\S+)", PRODUCTION_PAGE.read_text(), re.MULTILINE))
    documented = {name: value for name, value in documented.items() if not name.endswith("_FILE")}
    assert {"PORTICO_MODE", "ALLOWED_HOSTS", "TRUSTED_PROXIES", "HSTS_SECONDS"} <= set(documented)
    code, output = empty_site.run("check", "--deploy", "--fail-level", "WARNING", **{**documented, **KEYS})
    assert code == 0, output


@pytest.mark.processes
def test_serve_refuses_production_with_the_demos_accounts(site: Site) -> None:
    code, output = site.run("serve", PORTICO_MODE="production", ALLOWED_HOSTS="localhost", **KEYS)
    assert code == 1
    assert "portico.E006" in output
    assert "admin, agent, customer, customer2, designer, manager, rep" in output


@pytest.mark.processes
def test_a_value_that_cannot_be_read_stops_the_start(empty_site: Site) -> None:
    code, output = empty_site.run("serve", CALLER_RATE="many")
    assert code != 0
    assert "CALLER_RATE='many'" in output.splitlines()[-1]
    assert os.linesep in output

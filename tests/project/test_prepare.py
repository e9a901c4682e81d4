from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing

import psycopg
import pytest

from tests.servers import COMMAND_SECONDS, ROOT, Site, free_port, site_at

pytestmark = pytest.mark.processes


def endpoints(site: Site) -> int:
    url = site.environment.get("DATABASE_URL")
    with closing(psycopg.connect(url) if url else sqlite3.connect(site.database)) as database:
        return len(database.execute("SELECT id FROM designer_endpoint").fetchall())


@pytest.fixture(scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What `prepare build` makes belongs to the code, not to a site."""
    site_at(tmp_path_factory.mktemp("built")).manage("prepare", "build")


def test_the_demo_is_loaded_only_into_an_empty_database(site: Site) -> None:
    empty = "from designer.models import Endpoint; Endpoint.objects.all().delete()"
    site.manage("shell", "-v", "0", "-c", empty)
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
    assert set(shown) == {"rep", "manager", "agent", "customer", "customer2", "designer", "admin"}
    assert len(set(shown.values())) == 7
    assert "rep" not in site.manage("prepare", HOST="0.0.0.0")
    server = site.start()
    assert server.token("rep", shown["rep"])
    assert (
        server.request("POST", "/api/token", json={"username": "rep", "password": "demo"}).status_code == 401
    )


def on_a_read_only_root(site: Site, *arguments: str, first: str = "true") -> tuple[int, str]:
    """A management command's exit code and output, in a mount namespace where the code cannot be written.

    `first` is a shell command that is run there before.
    """
    if os.geteuid() != 0:
        pytest.skip("Only root can mount a file system")
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("No file system can be mounted here")
    root = shlex.quote(str(ROOT))
    command = shlex.join([sys.executable, "manage.py", *arguments])
    script = (
        f"mount --bind {root} {root}; mount -o remount,bind,ro {root}; {first}; cd {root}; exec {command}"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", script],
        env={**site.environment, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


def test_the_build_needs_neither_settings_nor_a_database(empty_site: Site) -> None:
    output = empty_site.manage(
        "prepare", "build", PORTICO_MODE="production", DATABASE_URL="postgres://none/x"
    )
    assert "Static files" in output
    assert "Database" not in output


def test_the_other_step_prepares_the_database_alone(empty_site: Site) -> None:
    output = empty_site.manage("prepare", "migrate", "--no-demo")
    assert "Database" in output
    assert "Static files" not in output
    assert endpoints(empty_site) == 0


def test_a_wrong_production_is_refused_before_its_database_is_touched(empty_site: Site) -> None:
    code, output = empty_site.run("prepare", "migrate", PORTICO_MODE="production")
    assert code == 1
    assert "portico.E001" in output
    assert "Database" not in output


def test_a_database_that_does_not_answer_is_told(empty_site: Site) -> None:
    nobody = f"postgres://portico@127.0.0.1:{free_port()}/portico"
    code, output = empty_site.run("prepare", "migrate", "--wait", "1", DATABASE_URL=nobody)
    assert code == 1
    assert "The database cannot be reached" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("step", [(), ("migrate",)])
@pytest.mark.usefixtures("_built")
def test_on_a_read_only_root_what_was_built_stays(empty_site: Site, step: tuple[str, ...]) -> None:
    code, output = on_a_read_only_root(empty_site, "prepare", *step)
    assert code == 0, output
    assert endpoints(empty_site) > 0


@pytest.mark.usefixtures("_built")
def test_on_a_read_only_root_a_build_that_lacks_is_told(empty_site: Site) -> None:
    code, output = on_a_read_only_root(
        empty_site, "prepare", first=f"mount -t tmpfs -o ro tmpfs {ROOT / 'staticfiles'}"
    )
    assert code == 1
    assert "Run `manage.py prepare build` where it can be" in output
    assert "Traceback" not in output

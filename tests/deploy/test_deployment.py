"""What docs/deployment.md says, done: build, start, call through TLS, back up, restore, upgrade."""

from __future__ import annotations

import re
import secrets
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.deploy.containers import Deployment
from tests.servers import ANSWER_SECONDS, until

pytestmark = pytest.mark.processes

PASSWORD = secrets.token_urlsafe(12)
_LOAD = (
    "import sys; from project import demo; "
    f"demo.is_wanted() and demo.load({{name: {PASSWORD!r} for name in demo.ACCOUNTS}}, sys.stdout)"
)


@pytest.fixture(scope="module")
def caller(deployment: Deployment, browser: requests.Session) -> requests.Session:
    """The demo's sales representative, through the proxy."""
    deployment.manage("shell", "-v", "0", "-c", _LOAD)
    log_in(deployment, browser)
    return browser


def log_in(deployment: Deployment, browser: requests.Session) -> None:
    browser.headers.pop("Authorization", None)
    answer = browser.post(f"{deployment.url}/api/token", json={"username": "rep", "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    browser.headers["Authorization"] = f"Bearer {answer.json()['access']}"


def create(deployment: Deployment, caller: requests.Session, name: str) -> str:
    answer = caller.post(f"{deployment.url}/api/sales/accounts", json={"name": name}, timeout=ANSWER_SECONDS)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def status_of(deployment: Deployment, caller: requests.Session, id: str) -> int:
    """Of an account, with a new token where the old one is too old."""
    address = f"{deployment.url}/api/sales/accounts/{id}"
    answer = caller.get(address, timeout=ANSWER_SECONDS)
    if answer.status_code == 401:
        log_in(deployment, caller)
        answer = caller.get(address, timeout=ANSWER_SECONDS)
    return answer.status_code


def database_bytes(deployment: Deployment, program: str, *arguments: str, stdin: Path | None = None) -> bytes:
    own = ("exec", "-T", "database", program, "--username=portico", *arguments)
    return deployment.compose_bytes(*own, stdin=stdin)


def inside(deployment: Deployment, script: str) -> str:
    return deployment.compose("exec", "-T", "portico", "sh", "-c", script)


def test_what_runs_beside_the_containers_sees_none_of_their_interfaces(deployment: Deployment) -> None:
    listed = subprocess.run(
        deployment.podman.within("cat", "/proc/net/dev"), capture_output=True, text=True, check=True
    ).stdout
    theirs = set(re.findall(r"^\s*(\S+):", listed, re.MULTILINE)) - {"lo"}
    assert len(theirs) > 3
    assert theirs.isdisjoint(name for _, name in socket.if_nameindex())


def test_the_service_runs_as_its_own_user_without_any_capability(deployment: Deployment) -> None:
    status = inside(deployment, "cat /proc/1/status; id -u")
    assert status.split()[-1] == "10001"
    assert re.search(r"^Uid:\s+10001\s+10001", status, re.MULTILINE)
    assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)


def test_nothing_but_data_and_uploads_can_be_written(deployment: Deployment) -> None:
    folders = "/ /opt/portico /etc /usr /data /tmp"
    script = f"for folder in {folders}; do touch $folder/x 2>/dev/null && echo $folder; done; true"
    assert inside(deployment, script).split() == ["/data", "/tmp"]


def test_the_images_health_check_passes(deployment: Deployment) -> None:
    assert "HEALTHCHECK" in deployment.podman.run("history", "--no-trunc", "localhost/portico:test")
    deployment.podman.run("healthcheck", "run", f"{deployment.project}_portico_1")


def test_nothing_in_the_image_can_install_packages(deployment: Deployment) -> None:
    assert "None" in inside(
        deployment, """python -c 'import importlib.util as u; print(u.find_spec("pip"))'"""
    )
    assert "pip" not in inside(deployment, "ls .venv/bin").split()


def test_djangos_own_checks_find_nothing(deployment: Deployment) -> None:
    script = "HSTS_SECONDS=31536000 python manage.py check --deploy --fail-level WARNING"
    assert "no issues" in inside(deployment, script)


def test_http_leads_to_https(deployment: Deployment, browser: requests.Session) -> None:
    answer = browser.get(f"http://localhost:{deployment.http}/api/docs", allow_redirects=False)
    assert answer.status_code == 308
    assert answer.headers["Location"].startswith("https://localhost/")


def test_metrics_stay_inside(deployment: Deployment, browser: requests.Session) -> None:
    assert browser.get(f"{deployment.url}/metrics").status_code == 404


def test_the_studio_takes_a_login_through_the_proxy_and_shows_its_styles(
    deployment: Deployment, caller: requests.Session
) -> None:
    page = f"{deployment.url}/admin/login/"
    caller.get(page)
    form = {"username": "admin", "password": PASSWORD, "csrfmiddlewaretoken": caller.cookies["csrftoken"]}
    answer = caller.post(page, data=form, headers={"Referer": page})
    assert answer.url == f"{deployment.url}/admin/"
    assert answer.status_code == 200
    style = re.search(r'href="(/static/designer/[^"]+\.css)"', answer.text)
    assert style
    assert caller.get(deployment.url + style[1]).status_code == 200


def test_what_is_backed_up_is_restored_and_nothing_else(
    deployment: Deployment, caller: requests.Session, tmp_path: Path
) -> None:
    kept = create(deployment, caller, "Kept")
    dump = tmp_path / "portico.dump"
    dump.write_bytes(database_bytes(deployment, "pg_dump", "--format=custom", "portico"))
    later = create(deployment, caller, "Made later")

    deployment.compose("stop", "portico")
    database_bytes(deployment, "dropdb", "portico")
    database_bytes(deployment, "createdb", "portico")
    database_bytes(deployment, "pg_restore", "--exit-on-error", "--no-owner", "--dbname=portico", stdin=dump)
    deployment.compose("restart", "cache")
    deployment.compose("start", "portico")

    assert until(lambda: status_of(deployment, caller, kept) == 200)
    assert status_of(deployment, caller, later) == 404
    assert create(deployment, caller, "After the restore")


def test_an_upgrade_has_callers_wait_and_refuses_nobody(
    deployment: Deployment, caller: requests.Session
) -> None:
    made = create(deployment, caller, "Before the upgrade")
    answers: list[int] = []
    upgraded = threading.Event()

    def call() -> None:
        while not upgraded.wait(0.2):
            answers.append(status_of(deployment, caller, made))

    with ThreadPoolExecutor(1) as pool:
        calls = pool.submit(call)
        try:
            until(lambda: answers)
            deployment.compose("run", "--rm", "migrate")
            deployment.compose("up", "--detach", "--force-recreate", "--no-deps", "portico")
            before = len(answers)
            # The one under way may be the old service's.
            until(lambda: calls.done() or len(answers) > before + 1)
        finally:
            upgraded.set()
        calls.result()
    assert set(answers) == {200}

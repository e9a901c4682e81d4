"""The examples for nginx and Caddy, each in front of a running service."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.servers import ROOT, Server, Site, free_port, until

pytestmark = pytest.mark.processes

HOST = "localhost"
MARK = "mArKeD"
# A value that comes back in an answer's Link.
REVENUE = "1.2345"
SETTINGS = {
    "TRUSTED_PROXIES": "1",
    "HSTS_SECONDS": "31536000",
    "ADDRESS_RATE": "30",
    "METRICS_TOKEN": "monitoring",
}


@dataclass
class Proxy:
    http: int
    https: int
    authority: Path
    server: Server
    logs: tuple[Path, ...]

    def get(self, path: str, **options: object) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(self.authority)
            return session.get(f"https://{HOST}:{self.https}{path}", timeout=120, **options)  # type: ignore[arg-type]


@pytest.fixture(params=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> Iterator[Proxy]:
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    server = site.start(**SETTINGS)
    with {"nginx": nginx, "caddy": caddy}[name](server, tmp_path) as own:

        def answers() -> bool:
            with suppress(requests.ConnectionError, OSError, ssl.SSLError):
                return own.get("/health/live").status_code == 200
            return False

        until(answers)
        yield own


@contextmanager
def nginx(server: Server, folder: Path) -> Iterator[Proxy]:
    logs = (folder / "access.log", folder / "error.log", folder / "start.log")
    own = Proxy(free_port(), free_port(), folder / "certificate.pem", server, logs)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-days", "2", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"),
            *("-keyout", str(folder / "key.pem"), "-out", str(own.authority)),
        ],
        check=True,
        capture_output=True,
    )
    text = (ROOT / "deploy" / "nginx" / "portico.conf").read_text()
    for written, here in {
        "api.example.org": HOST,
        "127.0.0.1:8000": server.url.removeprefix("http://"),
        "listen 80;": f"listen {own.http};",
        "listen [::]:80;": "",
        "listen 443": f"listen {own.https}",
        "listen [::]:443 ssl http2;": "",
        "listen [::]:443 ssl default_server;": "",
        "/etc/ssl/portico/fullchain.pem": str(own.authority),
        "/etc/ssl/portico/privkey.pem": str(folder / "key.pem"),
        "/var/log/nginx/portico.log": str(logs[0]),
        "/var/log/nginx/portico-error.log": str(logs[1]),
    }.items():
        assert written in text
        text = text.replace(written, here)
    (folder / "portico.conf").write_text(text)
    temporary = [
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    ]
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder / 'pid'}; error_log {logs[2]}; events {{}}\n"
        f"http {{ {' '.join(temporary)} include {folder / 'portico.conf'}; }}\n"
    )
    command = ["nginx", "-e", str(logs[2]), "-c", str(folder / "nginx.conf")]
    subprocess.run([*command, "-t", "-q"], check=True)
    with running(command, {}, logs[2]):
        yield own


@contextmanager
def caddy(server: Server, folder: Path) -> Iterator[Proxy]:
    data = folder / "caddy"
    log = folder / "caddy.log"
    root = data / "caddy/pki/authorities/local/root.crt"
    own = Proxy(free_port(), free_port(), root, server, (log,))
    settings = {
        "PORTICO_HOST": HOST,
        "PORTICO_UPSTREAM": server.url.removeprefix("http://"),
        "XDG_DATA_HOME": str(data),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    # Ports that are free, and no authority of a test among those that the machine trusts.
    here = f"\thttp_port {own.http}\n\thttps_port {own.https}\n\tadmin off\n\tskip_install_trust\n"
    text = (ROOT / "deploy" / "caddy" / "Caddyfile").read_text()
    # A service that is gone stays gone here.
    for written, ours in {"\n{\n": f"\n{{\n{here}", "lb_try_duration 30s": "lb_try_duration 0s"}.items():
        assert written in text
        text = text.replace(written, ours)
    (folder / "Caddyfile").write_text(text)
    command = ["--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    environment = {**os.environ, **settings}
    subprocess.run(["caddy", "validate", *command], env=environment, check=True, capture_output=True)
    with running(["caddy", "run", *command], settings, log):
        yield own


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("ab") as output:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=output, stderr=output)
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def test_the_proxy_speaks_tls_and_says_who_calls(proxy: Proxy) -> None:
    plain = requests.get(f"http://{HOST}:{proxy.http}/api/docs", allow_redirects=False, timeout=120)
    assert plain.status_code == 308
    assert plain.headers["Location"].startswith(f"https://{HOST}")

    assert proxy.get("/metrics").status_code == 404
    assert proxy.get("/metrics", headers={"Authorization": "Bearer monitoring"}).status_code == 404

    # The service knows that it was https, from the proxy alone.
    answer = proxy.get("/admin/login/", headers={"X-Forwarded-Proto": "http"})
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"

    # Nobody gets more than an address may have by naming others. Twice a minute's, for a minute may
    # end among them; a Redis that servers share may know of calls before.
    answers = [
        proxy.get("/optionsets/priorities", headers={"X-Forwarded-For": f"192.0.2.{number}"})
        for number in range(62)
    ]
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(429) >= 2
    assert set(statuses) <= {200, 429}


def test_no_log_of_the_proxy_holds_what_a_caller_sends(proxy: Proxy) -> None:
    login = {"username": "rep", "password": "demo"}
    token = proxy.server.request("POST", "/api/token", json=login).json()["access"]
    marked = {"User-Agent": MARK, "Cookie": f"{MARK}={MARK}", "Referer": f"https://{MARK}.example/"}
    path = f"/api/{MARK}?{MARK}={MARK}"
    requests.get(f"http://{HOST}:{proxy.http}{path}", headers=marked, allow_redirects=False, timeout=120)
    assert proxy.get(path, headers=marked).status_code == 404
    query = f"/api/sales/queries/accounts?pageSize=1&minRevenue={REVENUE}"
    page = proxy.get(query, headers={"Authorization": f"Bearer {token}"})
    assert REVENUE in page.headers["Link"]
    assert proxy.get(f"/admin/{MARK}/", allow_redirects=False).headers["Location"].count(MARK)

    proxy.server.kill()
    assert proxy.get(path, headers=marked).status_code == 502

    told = until(lambda: "".join(log.read_text() for log in proxy.logs if log.exists()))
    assert page.headers["X-Request-Id"] in told
    assert {secret for secret in (MARK, MARK.lower(), REVENUE, token) if secret in told} == set()

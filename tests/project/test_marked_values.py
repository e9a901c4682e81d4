"""Marked values in every place that a caller fills in, sent to running servers on both platforms.

No line of the log, no metric and no span holds one. `test_no_values_in_logs` holds the same of each logger.
"""

from __future__ import annotations

import base64
import http.client
import json
import time
import uuid
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest

from crmbox.demo.people import FIRST_ACCOUNT, RITA_REP
from tests.collector import Collector
from tests.dataverse.reaching import settings_for
from tests.observability import Figures, lines
from tests.runtime import forge
from tests.servers import Server, Site, copied, until

pytestmark = pytest.mark.processes

MARK = "mArKeD"
QUOTED = MARK.encode().hex()
ISSUER = "https://issuer.example"
ACCOUNTS = "/api/sales/accounts"
ACCOUNT = f"{ACCOUNTS}/{FIRST_ACCOUNT}"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", MARK.upper())
PATHS = (
    f"/{MARK}",
    f"/api/{MARK}/{MARK}",
    f"/api/sales/accounts/{MARK}",
    f"{ACCOUNT}/files/{MARK}",
    f"{ACCOUNT}/files/notes/{MARK}",
    f"{ACCOUNT}?{MARK}={MARK}",
    f"/api/sales/queries/accounts?name={MARK}&cursor={MARK}&pageSize={MARK}",
    f"/api/sales/queries/accounts?name={MARK}",
    f"/optionsets/{MARK}?lcid={MARK}",
    f"/api/schema/entities/{MARK}",
    f"/admin/{MARK}?next={MARK}",
    f"/static/{MARK}",
    f"/metrics?{MARK}",
    f"/%00{MARK}%ff",
)
HEADERS = {
    **dict.fromkeys(("Accept", "Accept-Language", "User-Agent", "Referer", "Origin"), f"{MARK}/{MARK}"),
    **dict.fromkeys(("If-Match", "If-None-Match", "If-Range", "Range", "Idempotency-Key"), f'"{MARK}"'),
    **dict.fromkeys(("X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Real-Ip", "Via", "From"), MARK),
    "Cookie": f"sessionid={MARK}; {MARK}={MARK}",
    "X-Request-Id": f"{MARK} with a blank",
    "traceparent": f"00-{MARK}",
    "tracestate": f"{MARK.lower()}={MARK}",
    "baggage": f"{MARK}={MARK}",
    MARK: MARK,
}


class Sender:
    """Sends what no client would, each time on a connection of its own; whatever is answered is right."""

    def __init__(self, server: Server) -> None:
        address = urlsplit(server.url)
        self._host, self._port = str(address.hostname), address.port
        self.sent = 0

    def __call__(self, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
        given = {"Content-Length": str(len(body)), **{k.replace("_", "-"): v for k, v in headers.items()}}
        connection = http.client.HTTPConnection(self._host, self._port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host="Host" in given)
            for name, value in given.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            self.sent += 1
            return answer.read()
        finally:
            connection.close()


class Caller:
    """Sends marked values, mostly with a token that is good and all of whose claims are marked."""

    def __init__(self, send: Sender, key: Any) -> None:
        self._send = send
        self._key = key

    def token(self, **changes: Any) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": "portico",
            "sub": MARK,
            "iat": now,
            "exp": now + 3000,
            "roles": [MARK],
        }
        more = {"user": RITA_REP, "email": MARK, MARK: {MARK: [MARK]}}
        return "Bearer " + jwt.encode({**claims, **more, **changes}, self._key, "RS256", {"kid": MARK})

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
        kind = {} if "Content_Type" in headers else {"Content_Type": "application/json"}
        return self._send(method, path, body, Authorization=self._good, **kind, **headers)

    def log_in(self) -> None:
        self._good = self.token()
        account = json.loads(self.send("GET", ACCOUNT))
        assert account.get("id") == FIRST_ACCOUNT, account

    def paths_and_headers(self) -> None:
        for method, path in product(METHODS, PATHS):
            self._send(method, path)
            self.send(method, path, json.dumps({MARK: MARK}).encode())
        for (name, value), method in product(HEADERS.items(), ("GET", "POST", "PATCH")):
            self.send(method, ACCOUNTS if method == "POST" else ACCOUNT, b"{}", **{name: value})
        for host, path in product((MARK, f"{MARK} {MARK}", f"{MARK},{MARK}"), (ACCOUNT, "/admin/login/")):
            self._send("GET", path, Host=host)

    def bodies(self) -> None:
        values: list[Any] = [MARK, [MARK], {MARK: MARK}, MARK * 20_000, f"{MARK}\x00", 1e300]
        for value, name in product(values, ("name", "telephone1", "revenue", "parentaccountid", MARK)):
            body = json.dumps({"name": MARK, name: value}).encode()
            key = f"{MARK}-{uuid.uuid4()}"
            for _ in range(2):
                self.send("POST", ACCOUNTS, body, Idempotency_Key=key)
            self.send("PATCH", ACCOUNT, body, If_Match="*")
        broken = (f"{{{MARK}".encode(), f'"{MARK}"'.encode(), f"<{MARK}/>".encode(), b"\xff" + MARK.encode())
        for body, kind in product(
            broken, ("application/json", f"text/{MARK}", f"application/json; charset={MARK}")
        ):
            self.send("POST", ACCOUNTS, body, Content_Type=kind)

    def files(self) -> None:
        names = (f"{MARK}.pdf", f"{MARK}.exe", f"../{MARK}", MARK)
        for place, name, kind in product(("notes", "contract"), names, ("application/pdf", f"x/{MARK}")):
            path = f"{ACCOUNT}/files/{place}"
            head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: {kind}'
            form = f"--b\r\n{head}\r\n\r\n%PDF-{MARK}\r\n--b--\r\n".encode()
            self.send("POST", path, form, Content_Type="multipart/form-data; boundary=b")
            disposition = f'attachment; filename="{name}"'
            self.send(
                "POST", path, f"%PDF-{MARK}".encode(), Content_Type=kind, Content_Disposition=disposition
            )
            self.send("GET", path, If_Range=f'"{MARK}"', Range=f"bytes={MARK}")

    def tokens(self) -> None:
        changes: list[dict[str, Any]] = [
            {"roles": MARK},
            {"roles": []},
            {"user": MARK},
            {"user": str(uuid.uuid4()), "name": MARK},
            {"aud": MARK},
            {"iss": f"https://{MARK}"},
            {"exp": 1},
            {"sub": MARK * 1000},
            {"jti": MARK, "nbf": time.time() + 10_000},
        ]
        for changed, path in product(changes, (ACCOUNT, "/api/context")):
            self._send("GET", path, Authorization=self.token(**changed))
        basic = base64.b64encode(f"{MARK}:{MARK}".encode()).decode()
        for scheme in ("", "Bearer ", f"Bearer {MARK}.{MARK}.", "Bearer ptk_", f"{MARK} "):
            self._send("GET", ACCOUNT, Authorization=f"{scheme}{MARK}")
        self._send("POST", "/api/token", b"grant_type=client_credentials", Authorization=f"Basic {basic}")

    def logins(self) -> None:
        forms = (
            f"grant_type=password&username={MARK}&password={MARK}",
            f"grant_type=refresh_token&refresh_token={MARK}",
            f"grant_type={MARK}&client_id={MARK}&client_secret={MARK}&scope={MARK}",
            f"{MARK}={MARK}",
        )
        places = ("/api/token", "/api/token/refresh", "/api/token/revoke", "/admin/login/")
        for form, path in product(forms, places):
            self._send("POST", path, form.encode(), Content_Type="application/x-www-form-urlencoded")
        login = json.dumps({"username": MARK, "password": MARK, "refresh": MARK}).encode()
        for path in places[:3]:
            self._send("POST", path, login, Content_Type="application/json")


@pytest.fixture(params=["embedded", "dataverse"])
def platform(request: pytest.FixtureRequest, _prepared: Site, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings of a service on each of the platforms."""
    if request.param == "embedded":
        yield {}
        return
    with copied(_prepared, tmp_path / "crm", "marked_crm") as crm:
        yield settings_for(crm.start_crm(root="/contoso"))


@pytest.fixture
def collector() -> Iterator[Collector]:
    receiver = Collector()
    yield receiver
    receiver.stop()


def test_no_line_metric_or_span_holds_what_a_caller_sends(
    site: Site, platform: dict[str, str], collector: Collector
) -> None:
    key = forge.rsa_key()
    issuers = {
        ISSUER: {
            "audience": "portico",
            "public_key": forge.pem(key),
            "algorithms": ["RS256"],
            "roles_claim": "roles",
            "role_map": {MARK: ["sales-rep", "sales-manager"]},
            "platform_user_claim": "user",
        }
    }
    server = site.start(
        **platform,
        **collector.settings,
        WORKERS="2",
        LOG_LEVEL="DEBUG",
        ISSUERS=json.dumps(issuers),
        ADDRESS_RATE="0",
        CALLER_RATE="0",
        LOGIN_RATE="0",
        CRM_IMPERSONATE="0",
    )
    send = Sender(server)
    caller = Caller(send, key)
    caller.log_in()
    caller.paths_and_headers()
    caller.bodies()
    caller.files()
    caller.tokens()
    caller.logins()

    # All of it has been told before it is read.
    until(lambda: len(lines(server, logger="portico.access")) >= send.sent - _MISSED)
    figures = server.request("GET", "/metrics").text
    assert Figures(server).sum("requests_total") >= send.sent - _MISSED
    until(lambda: list(collector.points("http.server.request.duration")))
    until(lambda: len(collector.spans()) >= send.sent - _MISSED)
    server.stop()
    told = {
        "log": server.output(),
        "metrics": figures,
        "spans and metrics": "\n".join(str(message) for message in collector.received),
    }
    leaks = {
        where: [line for line in text.splitlines() if MARK.lower() in line.lower() or QUOTED in line][:3]
        for where, text in told.items()
    }
    assert not any(leaks.values()), leaks


# Requests that the server program itself refuses, before they are any.
_MISSED = 20

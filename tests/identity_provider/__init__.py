"""A real OpenID provider on loopback: npm's `oidc-provider`, run by `provider.mjs`.

    def test_…(identity_provider: IdentityProvider) -> None:
        identity_provider.know(client("studio", redirects=[…]), users={"ada": {"groups": ["staff"]}})

It is started when a test first asks for it, and lives as long as the test process. Each test finds it
running, with neither clients nor users. Its login page asks for a name and nothing else; a request with
`login_hint` is not asked.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from scripts.npm import NotInstalled, locked

HERE = Path(__file__).parent
SECRET = "a secret of the tests that nobody guesses"
PATIENCE = 120


def client(
    name: str,
    *,
    redirects: list[str],
    algorithm: str = "RS256",
    after_logout: list[str] | None = None,
    public: bool = False,
) -> dict[str, Any]:
    """An application that the provider knows, whose ID tokens it signs with `algorithm`. It has SECRET or,
    `public` as a page in a browser is, none.
    """
    authentication = {"token_endpoint_auth_method": "none"} if public else {"client_secret": SECRET}
    return {
        "client_id": name,
        **authentication,
        "redirect_uris": redirects,
        "post_logout_redirect_uris": after_logout or [],
        "grant_types": [
            "authorization_code",
            "refresh_token",
            *(() if public else ("client_credentials",)),
        ],
        "id_token_signed_response_alg": algorithm,
    }


@dataclass
class IdentityProvider:
    """A running provider. `know` says what it knows; the rest is what providers do."""

    issuer: str
    control: str
    is_stopped: bool = field(default=False, init=False)

    def know(
        self,
        *clients: Mapping[str, Any],
        users: Mapping[str, Mapping[str, Any]] | None = None,
        thin: bool = False,
        twist: Mapping[str, Any] | None = None,
    ) -> None:
        """Replace all that it knows. `users` are claims by the name that logs in; `thin` leaves them out
        of ID tokens, so that only `userinfo` has them; `twist` is written over the claims and header of
        each ID token.
        """
        self._do("PUT", "", {"clients": clients, "users": users or {}, "thin": thin, "twist": twist})

    def rotate(self) -> None:
        """Sign with new keys. The old ones stay published."""
        self._do("POST", "rotate")

    def forget(self) -> None:
        """Publish the newest keys alone."""
        self._do("POST", "forget")

    def stop(self) -> None:
        """Refuse connections, until `start`."""
        self._do("POST", "stop")
        self.is_stopped = True

    def start(self) -> None:
        self._do("POST", "start")
        self.is_stopped = False

    def sign(self, claims: Mapping[str, Any], algorithm: str = "RS256", **header: Any) -> str:
        """A token of any claims, signed with the newest key for `algorithm`."""
        answer = self._do("POST", "sign", {"claims": claims, "header": {"alg": algorithm, **header}})
        return str(answer["token"])

    def tokens(self, application: str, user: str, redirect: str, **parameters: str) -> dict[str, Any]:
        """What the authorization code flow with PKCE gives `application` for `user`.

        With `resource="https://…"` the access token is a JWT for that audience, with the user's claims.
        """
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        asked = {
            "client_id": application,
            "redirect_uri": redirect,
            "response_type": "code",
            "scope": "openid api" if "resource" in parameters else "openid",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "login_hint": user,
            **parameters,
        }
        with requests.Session() as browser:
            url, given = f"{self.issuer}/auth", asked
            for _ in range(10):
                answer = browser.get(url, params=given, allow_redirects=False, timeout=PATIENCE)
                assert answer.is_redirect, answer.text
                url, given = requests.compat.urljoin(answer.url, answer.headers["Location"]), {}
                if url.startswith(redirect):
                    break
        code = parse_qs(urlsplit(url).query)["code"][0]
        return self.token(
            application,
            grant_type="authorization_code",
            code=code,
            redirect_uri=redirect,
            code_verifier=verifier,
        )

    def token(self, application: str, **parameters: str) -> dict[str, Any]:
        """The token endpoint's answer, such as for `grant_type="refresh_token"`."""
        answer = requests.post(
            f"{self.issuer}/token", data=parameters, auth=(application, SECRET), timeout=PATIENCE
        )
        assert answer.ok, answer.text
        return dict(answer.json())

    def _do(self, method: str, path: str, given: object = None) -> dict[str, Any]:
        answer = requests.request(method, f"{self.control}/{path}", json=given or {}, timeout=PATIENCE)
        assert answer.ok, answer.text
        return dict(answer.json())


@pytest.fixture(scope="session")
def _started_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityProvider]:
    try:
        folder = locked(HERE)
    except NotInstalled as error:
        pytest.skip(str(error))
    log = tmp_path_factory.mktemp("provider") / "log"
    # It needs little, and there is one for every process of a test run.
    command = ["node", "--max-old-space-size=64", str(HERE / "provider.mjs"), str(folder)]
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
    assert process.stdin is not None
    assert process.stdout is not None
    said = process.stdout.readline()
    assert said, log.read_text(encoding="utf-8")
    yield IdentityProvider(**json.loads(said))
    process.stdin.close()
    process.wait(PATIENCE)
    process.stdout.close()


@pytest.fixture
def identity_provider(_started_provider: IdentityProvider) -> IdentityProvider:
    _started_provider.start()
    _started_provider.know()
    return _started_provider

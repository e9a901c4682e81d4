"""An identity provider on a socket, issuers as rows, and tokens as providers write them."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from designer.models import Issuer, RoleRule
from tests.runtime import forge

KEY = forge.rsa_key()
OTHER_KEY = forge.rsa_key()
AUDIENCE = "api://portico"


class Provider:
    """Publishes its OpenID configuration and its keys, and counts who asks for what."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {"k1": KEY}
        # More members of each published key, such as its algorithm.
        self.described: dict[str, str] = {}
        self.status = 200
        self.asked: list[str] = []
        # How many of the next connections end without an answer, or in the middle of one.
        self.broken = 0
        self.cut = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                if outer.broken:
                    outer.broken -= 1
                    return
                body = json.dumps(outer.document(self.path)).encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if outer.cut:
                    outer.cut -= 1
                    body = body[:10]
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.said_issuer = self.address
        self.said_keys = f"{self.address}/keys"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def document(self, path: str) -> Any:
        if path.endswith("/keys"):
            return {"keys": [forge.jwk(key, kid, **self.described) for kid, key in self.keys.items()]}
        return {
            "issuer": self.said_issuer,
            "jwks_uri": self.said_keys,
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
        }

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def token(self, *, key: Any = KEY, kid: str = "k1", algorithm: str = "RS256", **changes: Any) -> str:
        """An access token, good unless `changes` spoil it; OMIT leaves a claim out."""
        now = int(time.time())
        good = {"iss": self.address, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300}
        claims = {name: value for name, value in (good | changes).items() if value is not forge.OMIT}
        return forge.signed(claims, key=key, algorithm=algorithm, headers={"kid": kid})


def issuer_row(provider: Provider, *rules: dict[str, Any], **changes: Any) -> Issuer:
    """An issuer whose keys are discovered, with role rules."""
    values = {"name": "provider", "issuer": provider.address, "audiences": [AUDIENCE], **changes}
    row: Issuer = Issuer.objects.create(**values)
    for at, rule in enumerate(rules):
        RoleRule.objects.create(issuer=row, position=at, **rule)
    return row


def grants(**table: str) -> list[dict[str, str]]:
    return [{"value": value, "role": role} for value, role in table.items()]

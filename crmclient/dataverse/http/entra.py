"""Tokens of Microsoft Entra ID, through its own library: one application for the process."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crmclient.dataverse.http.client_credentials import token_of
from crmclient.dataverse.http.clouds import WORLDWIDE
from crmclient.dataverse.http.tokens import Token
from crmclient.errors import Unavailable, UnexpectedAnswer


@dataclass
class Entra:
    """`credential` is a secret's text, or what `certificate` or `federated` makes. Made when the first token
    is needed: the library asks the authority at once."""

    tenant_id: str
    client_id: str
    credential: str | dict[str, Any]
    scope: str
    authority: str = WORLDWIDE
    _application: Any = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def fetch(self, timeout: float) -> Token:
        # The library takes longer to import than everything else here together.
        import msal  # type: ignore[import-untyped]

        try:
            with self._lock:
                if self._application is None:
                    self._application = msal.ConfidentialClientApplication(
                        self.client_id,
                        client_credential=self.credential,
                        authority=f"{self.authority}/{self.tenant_id}",
                        timeout=timeout,
                    )
                # The library has a cache of its own, which may hold the token that was refused.
                self._application.remove_tokens_for_client()
                answer = self._application.acquire_token_for_client([self.scope])
        except OSError as error:
            # The library's own errors of its connection are of this kind, too.
            if isinstance(error.filename, str):
                raise UnexpectedAnswer(f"{error.filename} cannot be read: {error.strerror}.") from error
            raise _away(error) from error
        except Exception as error:
            # It lets its HTTP library's errors through, and ValueError for an authority that does not exist.
            raise _away(error) from error
        try:
            return token_of(answer)
        except (KeyError, TypeError, ValueError):
            reason = answer.get("error") if isinstance(answer, dict) else None
            raise UnexpectedAnswer(f"Entra ID gave no token ({reason}).") from None


def _away(error: Exception) -> Unavailable:
    return Unavailable(f"No token could be fetched from Entra ID ({type(error).__name__}).", retry_after=5)


def federated(path: Path) -> dict[str, Any]:
    """The credential of a workload: a token that its own platform, such as Kubernetes, writes to a file and
    renews there. It is read for each token that is fetched.
    """
    return {"client_assertion": lambda: path.read_text(encoding="ascii").strip()}


def certificate(path: Path, password: str = "") -> dict[str, Any]:
    """The credential in a file: PFX, or PEM with both key and certificate. Raises OSError."""
    secret = {"passphrase": password} if password else {}
    if path.suffix.lower() in (".pfx", ".p12"):
        path.stat()
        return {"private_key_pfx_path": str(path), "public_certificate": True, **secret}
    text = path.read_text(encoding="ascii")
    begin = text.index("-----BEGIN CERTIFICATE-----")
    end = text.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
    return {"private_key": text, "public_certificate": text[begin:end], **secret}

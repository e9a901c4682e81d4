"""Tokens of Microsoft Entra ID, through its own library: one application for the process."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from crmclient.dataverse.http.client_credentials import token_of
from crmclient.dataverse.http.clouds import WORLDWIDE
from crmclient.dataverse.http.token_refusals import TokenRefused, TokenUnavailable, refusal_of
from crmclient.dataverse.http.tokens import Token
from crmclient.dataverse.http.transport import attempt_failure
from crmclient.sentences import Sentence


@dataclass
class Entra:
    """Fetches tokens. `credential` is a secret's text, what `federated` returns, or
    `certificate_files.certificate`.

    The library's own application object is made with the first token, since it asks the authority at once.
    """

    tenant_id: str
    client_id: str
    credential: str | dict[str, Any]
    scope: str
    authority: str = WORLDWIDE
    _application: Any = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def fetch(self, timeout: float) -> Token:
        """Fetch a new token. Raises TokenUnavailable, and TokenRefused with advice.

        `timeout`, in seconds, bounds each of the library's requests. The first call's stays in force.
        """
        # The library takes longer to import than everything else here together.
        import msal  # type: ignore[import-untyped]

        try:
            with self._lock:
                if self._application is None:
                    self._application = msal.ConfidentialClientApplication(
                        self.client_id,
                        client_credential=self.credential,
                        authority=f"{self.authority}/{self.tenant_id}",
                        # Otherwise the library asks the worldwide cloud whether it knows the authority: from
                        # a closed cloud that cannot be reached, and an own authority it does not know.
                        instance_discovery=False,
                        timeout=timeout,
                    )
                # The library has a cache of its own, which may hold the token that was refused.
                self._application.remove_tokens_for_client()
                answer = self._application.acquire_token_for_client([self.scope])
        except TokenRefused:
            # The file of a federated token has none.
            raise
        except OSError as error:
            # The library's own errors of its connection are of this kind, too.
            if isinstance(error.filename, str):
                raise TokenRefused(
                    Sentence(
                        "%(file)s cannot be read: %(reason)s.", file=error.filename, reason=error.strerror
                    ),
                    Sentence("Let the service's account read the file, or correct its path in the settings."),
                ) from error
            raise self._no_token(error) from error
        except Exception as error:
            # Without the object, making it has failed, because of the tenant or the key in the settings.
            if self._application is None and isinstance(error, ValueError | TypeError):
                raise self._unusable(error) from error
            # The library lets the errors of its HTTP library through.
            raise self._no_token(error) from error
        try:
            return token_of(answer)
        except (KeyError, TypeError, ValueError):
            raise refusal_of("Entra ID", answer) from None

    def _unusable(self, error: Exception) -> TokenRefused:
        """Return the refusal for an application object that the library could not make.

        The library first asks for the tenant, then reads the key: the error says which of these failed.
        """
        if "authority" in str(error) or "address" in str(error):
            return TokenRefused(
                Sentence(
                    "%(authority)s is not an Entra ID, or has no tenant %(tenant)s.",
                    authority=self.authority,
                    tenant=self.tenant_id,
                ),
                Sentence("Correct CRM_TENANT_ID or CRM_AUTHORITY."),
            )
        return TokenRefused(
            Sentence("The certificate's file or its password cannot be used."),
            Sentence("Correct CRM_CERTIFICATE and CRM_CERTIFICATE_PASSWORD."),
        )

    def _no_token(self, error: Exception) -> TokenUnavailable:
        """Return the failure for an `error` on the way to Entra ID. It may pass."""
        sentence = Sentence(
            "No token could be fetched from %(authority)s. %(reason)s",
            authority=self.authority,
            reason=_why(error),
        )
        return TokenUnavailable(sentence, retry_after=5)


def _why(error: Exception) -> str:
    """Return why the library got no answer that it could read, in a sentence."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return Sentence("It answers %(status)s.", status=error.response.status_code)
    if isinstance(error, requests.RequestException):
        return str(attempt_failure(error))
    if isinstance(error, ValueError):
        return Sentence("Its answer is not JSON.")
    return Sentence("The reason is not known (%(reason)s).", reason=type(error).__name__)


def federated(path: Path) -> dict[str, Any]:
    """Return the credential of a workload, as the library takes it: the token in the file at `path`.

    The workload's own platform, such as Kubernetes, writes the file and renews it. So the file is read
    whenever a token is fetched.
    """

    def token() -> str:
        text = path.read_text(encoding="ascii", errors="replace").strip()
        if not text or not text.isascii():
            raise TokenRefused(
                Sentence("%(file)s holds no token.", file=str(path)),
                Sentence("Correct CRM_FEDERATED_TOKEN_FILE, or have the token written there again."),
            )
        return text

    return {"client_assertion": token}

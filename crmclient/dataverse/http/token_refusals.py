"""What an authority says when it gives no token, with what to do about it.

Entra ID numbers its refusals (AADSTS); other token endpoints have OAuth's few words alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crmclient.errors import PlatformFailure, SignInRefused, Throttled, Unavailable
from crmclient.sentences import Sentence

_NUMBER: Final = re.compile(r"\bAADSTS(\d{3,10})\b", re.ASCII)
_WORD: Final = re.compile(r"[a-z_]{1,50}", re.ASCII)
_LATER: Final = frozenset({"temporarily_unavailable", "server_error"})
_RETRY_AFTER: Final = 5.0

_FEDERATED: Final = Sentence(
    "Compare issuer, subject and audience of the federated credential of the application with the token."
)
_ADVICE: Final[dict[int, tuple[Sentence, Sentence]]] = {
    7000215: (
        Sentence("The secret is not one of the application's."),
        Sentence("Enter the secret's value, not its id. A secret that worked before may have expired."),
    ),
    7000222: (
        Sentence("The secret has expired."),
        Sentence("Make a new secret for the application and enter its value."),
    ),
    7000216: (
        Sentence("No secret, certificate or federated token was sent."),
        Sentence("Give the application one of them."),
    ),
    700016: (
        Sentence("The tenant does not know the application."),
        Sentence("Correct CRM_CLIENT_ID or CRM_TENANT_ID."),
    ),
    7000112: (
        Sentence("The application is disabled in its tenant."),
        Sentence("Enable it in Entra ID, Enterprise applications."),
    ),
    7000229: (
        Sentence("The tenant has no service principal of the application."),
        Sentence("Add the application to the tenant."),
    ),
    90002: (
        Sentence("There is no such tenant."),
        Sentence("Correct CRM_TENANT_ID, or CRM_AUTHORITY if it is in another cloud."),
    ),
    900023: (
        Sentence("There is no such tenant."),
        Sentence("Correct CRM_TENANT_ID: write an id or a domain name."),
    ),
    700027: (
        Sentence("The certificate is not one of the application's, or it has expired."),
        Sentence("Upload the public part of the certificate in CRM_CERTIFICATE to the application."),
    ),
    700024: (
        Sentence("The certificate or the federated token is not valid at this time."),
        Sentence("Set this machine's clock by NTP, and make sure that the federated token is renewed."),
    ),
    50027: (
        Sentence("What the application shows is no token."),
        Sentence("Correct CRM_FEDERATED_TOKEN_FILE, or have the token written there again."),
    ),
    700023: (Sentence("The assertion is for another authority."), Sentence("Correct CRM_AUTHORITY.")),
    70021: (Sentence("No federated credential of the application fits the token."), _FEDERATED),
    700211: (Sentence("No federated credential of the application has the token's issuer."), _FEDERATED),
    700212: (Sentence("No federated credential of the application has the token's audience."), _FEDERATED),
    700213: (Sentence("No federated credential of the application has the token's subject."), _FEDERATED),
    500011: (
        Sentence("The tenant does not know the organisation."),
        Sentence("Correct CRM_URL, or CRM_TENANT_ID to the tenant that the organisation belongs to."),
    ),
    1002012: (
        Sentence("The authority does not take the scope."),
        Sentence("Correct CRM_URL to the organisation's address."),
    ),
    53003: (
        Sentence("A policy of conditional access refuses it."),
        Sentence("Ask an administrator of the tenant to allow the application."),
    ),
}
_BY_WORD: Final[dict[str, tuple[Sentence, Sentence]]] = {
    "invalid_client": (
        Sentence("The client id or the secret is not right."),
        Sentence("Correct CRM_CLIENT_ID or the secret."),
    ),
    "unauthorized_client": (Sentence("The client is not known."), Sentence("Correct CRM_CLIENT_ID.")),
    "unsupported_grant_type": (
        Sentence("The endpoint does not give tokens for client credentials."),
        Sentence("Correct CRM_TOKEN_URL."),
    ),
    "invalid_scope": (
        Sentence("The endpoint does not take the scope."),
        Sentence("Correct CRM_URL to the organisation's address."),
    ),
}


_CHECK_ALL: Final = Sentence(
    "Check CRM_TENANT_ID, CRM_CLIENT_ID, CRM_AUTHORITY, and the secret, certificate or federated "
    "token, which may have expired. A managed identity has to be assigned on Azure."
)
_NO_ENDPOINT: Final = Sentence(
    "Something else may answer in the place of the token endpoint, such as a firewall, a proxy or a sign-in "
    "page: check CRM_AUTHORITY or CRM_TOKEN_URL and what is on the way there."
)


class TokenUnavailable(Unavailable):
    """No token can be had at the moment: the token endpoint is away, or says so."""


class TokenThrottled(Throttled):
    """The token endpoint asks for a pause. Dataverse itself does not."""


class TokenRefused(SignInRefused):
    """The token endpoint gave no token. `advice` says what to do about it."""

    def __init__(self, message: str, advice: str = _CHECK_ALL) -> None:
        super().__init__(message)
        self.advice = advice


def refusal_of(giver: str, answer: object, status: int | None = None) -> PlatformFailure:
    """Return the error for an `answer` without a token. `giver`, who was asked, begins its message.

    Only OAuth's error code and Entra ID's number are taken over from the answer's text.
    """
    fields = answer if isinstance(answer, Mapping) else {}
    word = fields.get("error")
    oauth_word = word if isinstance(word, str) and _WORD.fullmatch(word) else ""
    match = _NUMBER.search(str(fields.get("error_description", "")))
    codes = ", ".join(
        part
        for part in (
            f"AADSTS{match[1]}" if match else "",
            oauth_word,
            f"status {status}" if status is not None else "",
        )
        if part
    )
    sentence = Sentence("%(giver)s gave no token (%(reason)s).", giver=giver, reason=codes or "-")
    if oauth_word in _LATER:
        return TokenUnavailable(sentence, retry_after=_RETRY_AFTER)
    understood = (_ADVICE.get(int(match[1])) if match else None) or _BY_WORD.get(oauth_word)
    if understood is None:
        # Every token endpoint gives its reason as `error`, which is a text: a Web API has an object there.
        return TokenRefused(sentence, _CHECK_ALL if isinstance(word, str) else _NO_ENDPOINT)
    reason, advice = understood
    return TokenRefused(Sentence("%(said)s %(reason)s", said=sentence, reason=reason), advice)

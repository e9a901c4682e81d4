"""The authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect Core 1.0), by Authlib."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from django.conf import settings
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from crmclient.outbound import check_url
from crmclient.sentences import for_log
from designer.studio.sign_in import provider_documents
from designer.studio.sign_in.pending_sign_ins import PendingSignIn
from designer.studio.sign_in.provider import Provider
from designer.studio.sign_in.provider_requests import GuardedAdapter

# Signatures that only the provider can make. Those that it says it supports may be `none` or of secrets.
ALGORITHMS = [
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
]
_KEY_TYPES = {"RSA", "EC", "OKP"}
# The flow of RFC 6749 names these; what else stands there was written by somebody else.
_ERRORS = {
    *("access_denied", "invalid_request", "unauthorized_client", "unsupported_response_type", "server_error"),
    *("invalid_scope", "temporarily_unavailable", "login_required", "consent_required"),
    *("interaction_required", "account_selection_required"),
}


class ProviderAway(Exception):
    """The provider does not answer, or its answer is malformed. The text is for the log."""


class Untrusted(Exception):
    """The response to a sign-in cannot be trusted to come from the provider. The text is for the log."""


class Declined(Exception):
    """The provider refuses the sign-in. The text is its error code."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Verified claims, with the ID token and the address that end the session at the provider.

    The address is empty if the provider has none.
    """

    claims: Mapping[str, Any]
    id_token: str
    end_session_endpoint: str


def begin(provider: Provider, redirect_uri: str, pending: PendingSignIn, **parameters: str) -> str:
    """Return the address at which the browser signs in for `pending`. Raises ProviderAway."""
    with _Conversation(provider, redirect_uri) as conversation:
        url, _ = conversation.session.create_authorization_url(
            conversation.endpoint("authorization_endpoint"),
            state=pending.state,
            nonce=pending.nonce,
            code_verifier=pending.verifier,
            **parameters,
        )
        return str(url)


def finish(
    provider: Provider, redirect_uri: str, pending: PendingSignIn, answer: Mapping[str, str]
) -> SignedIn:
    """Finish the sign-in `pending` with the answer of the browser.

    Raises ProviderAway, Untrusted and Declined.
    """
    with _Conversation(provider, redirect_uri) as conversation:
        conversation.check_sender(answer.get("iss"))
        if error := answer.get("error"):
            raise Declined(error if error in _ERRORS else "error")
        tokens = conversation.tokens(answer.get("code", ""), pending.verifier)
        claims = conversation.verified(tokens, pending.nonce)
        if provider.groups_claim.split(".")[0] not in claims and provider.groups_claim not in claims:
            claims = {**conversation.user_info(tokens, claims["sub"]), **claims}
        return SignedIn(claims, str(tokens["id_token"]), conversation.optional("end_session_endpoint"))


def end_address(ended: Mapping[str, str], provider: Provider, back: str) -> str:
    """Return the address that ends the session at the provider (RP-Initiated Logout 1.0) and then leads
    to `back`.
    """
    query = {
        "id_token_hint": ended["id_token"],
        "client_id": provider.client_id,
        "post_logout_redirect_uri": back,
    }
    return str(requests.Request("GET", ended["end_session"], params=query).prepare().url)


class _Conversation:
    """One sign-in's requests. The provider's addresses and keys are those that were read some minutes ago.
    They change without notice: keys are read anew for a token that they do not fit, and all is forgotten when
    the provider does not answer.
    """

    def __init__(self, provider: Provider, redirect_uri: str) -> None:
        self._provider = provider
        self.session = OAuth2Session(
            provider.client_id,
            provider.client_secret or None,
            scope=provider.scopes,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
        )
        adapter = GuardedAdapter(allow_private_addresses=provider.allow_private_addresses)
        self.session.mount("https://", adapter)
        self.session.mount("http://", adapter)

    def __enter__(self) -> _Conversation:
        self._metadata = self._kept_or_fetched(self._provider.discovery)
        # Whoever answers must be who is asked: another name would be another provider's tokens.
        if self._metadata.get("issuer") != self._provider.issuer:
            provider_documents.forget(self._provider.discovery)
            raise ProviderAway(f"discovery names the issuer {str(self._metadata.get('issuer'))[:200]!r}")
        methods = self._metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if self._provider.client_secret and "client_secret_basic" not in methods:
            self.session.token_endpoint_auth_method = "client_secret_post"  # noqa: S105  a method's name
        return self

    def __exit__(self, raised: type[BaseException] | None, *_more: object) -> None:
        self.session.close()
        if raised is not None and issubclass(raised, ProviderAway):
            provider_documents.forget(self._provider.discovery, str(self._metadata.get("jwks_uri")))

    def endpoint(self, name: str) -> str:
        """Return the address of an endpoint of the provider. Raises ProviderAway if it is not valid."""
        url = self._metadata.get(name)
        try:
            check_url(str(url), insecure=settings.DEVELOPMENT)
        except ValueError as error:
            raise ProviderAway(f"discovery: {name}: {error}") from error
        return str(url)

    def optional(self, name: str) -> str:
        return self.endpoint(name) if self._metadata.get(name) else ""

    def check_sender(self, issuer: str | None) -> None:
        """Raise Untrusted if the answer is from another provider, as far as providers say (RFC 9207)."""
        must = self._metadata.get("authorization_response_iss_parameter_supported") is True
        if issuer != self._provider.issuer and (must or issuer is not None):
            raise Untrusted("the answer is another provider's")

    def tokens(self, code: str, verifier: str) -> dict[str, Any]:
        """Exchange the code for tokens. Raises Untrusted and ProviderAway."""
        try:
            return dict(
                self.session.fetch_token(
                    self.endpoint("token_endpoint"),
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                )
            )
        except OAuthError as error:
            raise Untrusted(f"the provider does not take the code: {str(error.error)[:50]!r}") from error
        except (requests.RequestException, ValueError) as error:
            raise ProviderAway(f"token endpoint: {for_log(error)}") from error

    def verified(self, tokens: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """Return the claims of the ID token. Raises ProviderAway and Untrusted."""
        address = self.endpoint("jwks_uri")
        if (published := provider_documents.cached(address)) is not None:
            try:
                return self._verified(tokens, nonce, published)
            except Untrusted:
                # The keys may have changed since.
                provider_documents.forget(address)
        return self._verified(tokens, nonce, self._kept_or_fetched(address))

    def _verified(
        self, tokens: Mapping[str, Any], nonce: str, published: Mapping[str, Any]
    ) -> dict[str, Any]:
        listed = published.get("keys") or ()
        keys = [key for key in listed if isinstance(key, dict) and key.get("kty") in _KEY_TYPES]
        expected_claims: Any = {
            "iss": {"essential": True, "value": self._provider.issuer},
            "aud": {"essential": True, "value": self._provider.client_id},
        }
        expected = {
            "nonce": nonce,
            "client_id": self._provider.client_id,
            "access_token": tokens.get("access_token"),
        }
        try:
            token = jwt.decode(
                str(tokens.get("id_token")),
                KeySet.import_key_set({"keys": keys}),
                registry=JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False),
            )
            claims = CodeIDToken(token.claims, token.header, expected_claims, expected)
            claims.validate(leeway=settings.PORTICO["TOKEN_LEEWAY"])
        except (JoseError, ValueError, TypeError) as error:
            reason = getattr(error, "error", type(error).__name__)
            raise Untrusted(f"ID token: {reason} {getattr(error, 'claim', '')}".strip()) from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 255 or "\0" in subject:
            raise Untrusted("ID token: the subject is no text of 1 to 255 characters")
        return dict(claims)

    def user_info(self, tokens: Mapping[str, Any], subject: str) -> dict[str, Any]:
        """Return the claims that the ID token leaves out. Raises ProviderAway and Untrusted."""
        if not self.optional("userinfo_endpoint") or not tokens.get("access_token"):
            return {}
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        claims = self._fetch(self.endpoint("userinfo_endpoint"), headers)
        if not secrets.compare_digest(str(claims.get("sub")).encode(), subject.encode()):
            raise Untrusted("userinfo is another subject's")
        return claims

    def _kept_or_fetched(self, url: str) -> dict[str, Any]:
        document = provider_documents.cached(url)
        if document is None:
            document = self._fetch(url)
            provider_documents.store(url, document)
        return document

    def _fetch(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        try:
            answer = self.session.get(url, withhold_token=True, headers=headers)
            answer.raise_for_status()
            document = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise ProviderAway(f"{url}: {for_log(error)}") from error
        if not isinstance(document, dict):
            raise ProviderAway(f"{url}: the answer is no JSON object")
        return document

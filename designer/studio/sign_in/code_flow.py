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
# The error codes of RFC 6749 and OpenID Connect. Any other text may be written by anybody, and is not shown.
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
        # `claimed_groups` looks for a claim of the whole name, or for one that is nested in a claim of its
        # first part. Where the token has neither, userinfo may. The claims of the token win.
        names_of_groups = {provider.groups_claim, provider.groups_claim.split(".")[0]}
        if names_of_groups.isdisjoint(claims):
            claims = {**conversation.user_info(tokens, claims["sub"]), **claims}
        return SignedIn(claims, str(tokens["id_token"]), conversation.optional("end_session_endpoint"))


def end_address(ended: Mapping[str, str], provider: Provider, back: str) -> str:
    """Return the address that ends the session at the provider (RP-Initiated Logout 1.0) and then leads
    to `back`.

    `ended` is the session at the provider: its `id_token`, and the provider's address in `end_session`.
    """
    query = {
        "id_token_hint": ended["id_token"],
        "client_id": provider.client_id,
        "post_logout_redirect_uri": back,
    }
    return str(requests.Request("GET", ended["end_session"], params=query).prepare().url)


class _Conversation:
    """The requests of one sign-in to the provider.

    The provider's addresses and keys may have been read some minutes ago. They change without notice: keys
    are read anew for a token that they do not fit, and all is forgotten when the provider does not answer.
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
        """Read what the provider says of itself. Raises ProviderAway."""
        try:
            self._read_metadata()
        except BaseException:
            # `__exit__` is not called where this raises.
            self.session.close()
            raise
        return self

    def _read_metadata(self) -> None:
        """Read what the provider says of itself, and how it wants the secret. Raises ProviderAway."""
        self._metadata = self._cached_or_fetched(self._provider.discovery)
        # Whoever answers must be who is asked: another name would be another provider's tokens.
        if self._metadata.get("issuer") != self._provider.issuer:
            provider_documents.forget(self._provider.discovery)
            raise ProviderAway(f"discovery names the issuer {str(self._metadata.get('issuer'))[:200]!r}")
        methods = self._metadata.get("token_endpoint_auth_methods_supported")
        # Without a list, OpenID Connect Discovery means client_secret_basic, which is Authlib's own default.
        offers_basic = not isinstance(methods, list) or not methods or "client_secret_basic" in methods
        if self._provider.client_secret and not offers_basic:
            self.session.token_endpoint_auth_method = "client_secret_post"  # noqa: S105  a method's name

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
        """Return the address of an endpoint; empty if the provider has none. Raises ProviderAway."""
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
        """Return the claims of the ID token, checked with the provider's keys.

        Raises ProviderAway and Untrusted.
        """
        address = self.endpoint("jwks_uri")
        if (published := provider_documents.cached(address)) is not None:
            try:
                return self._verified_with_keys(tokens, nonce, published)
            except Untrusted:
                # The keys may have changed since.
                provider_documents.forget(address)
        return self._verified_with_keys(tokens, nonce, self._cached_or_fetched(address))

    def _verified_with_keys(
        self, tokens: Mapping[str, Any], nonce: str, published: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the claims of the ID token, checked with the `published` key set (RFC 7517).

        Raises Untrusted.
        """
        expected_claims: Any = {
            "iss": {"essential": True, "value": self._provider.issuer},
            "aud": {"essential": True, "value": self._provider.client_id},
        }
        # The client is the `azp` of a token for several audiences; `at_hash` is of the access token.
        expected_parameters = {
            "nonce": nonce,
            "client_id": self._provider.client_id,
            "access_token": tokens.get("access_token"),
        }
        try:
            # Providers write headers of their own: those that are not registered are no reason to refuse.
            registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
            token = jwt.decode(str(tokens.get("id_token")), _signing_keys(published), registry=registry)
            claims = CodeIDToken(token.claims, token.header, expected_claims, expected_parameters)
            claims.validate(leeway=settings.PORTICO["TOKEN_LEEWAY"])
        except (JoseError, ValueError, TypeError) as error:
            reason = getattr(error, "error", type(error).__name__)
            raise Untrusted(f"ID token: {reason} {getattr(error, 'claim', '')}".strip()) from error
        subject = claims["sub"]
        # As OpenID Connect limits it. PostgreSQL cannot store a NUL.
        if not isinstance(subject, str) or not 0 < len(subject) <= 255 or "\0" in subject:
            raise Untrusted("ID token: the subject is no text of 1 to 255 characters")
        return dict(claims)

    def user_info(self, tokens: Mapping[str, Any], subject: str) -> dict[str, Any]:
        """Return the claims of the provider's userinfo endpoint; none if the provider has no such endpoint.

        Raises ProviderAway, and Untrusted for the claims of another subject.
        """
        if not self.optional("userinfo_endpoint") or not tokens.get("access_token"):
            return {}
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        claims = self._fetch(self.endpoint("userinfo_endpoint"), headers)
        if not secrets.compare_digest(str(claims.get("sub")).encode(), subject.encode()):
            raise Untrusted("userinfo is another subject's")
        return claims

    def _cached_or_fetched(self, url: str) -> dict[str, Any]:
        """Return the JSON document at `url`, fetched now or some minutes ago. Raises ProviderAway."""
        document = provider_documents.cached(url)
        if document is None:
            document = self._fetch(url)
            provider_documents.store(url, document)
        return document

    def _fetch(self, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the JSON object at `url`. Raises ProviderAway."""
        try:
            answer = self.session.get(url, withhold_token=True, headers=headers)
            answer.raise_for_status()
            document = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise ProviderAway(f"{url}: {for_log(error)}") from error
        if not isinstance(document, dict):
            raise ProviderAway(f"{url}: the answer is no JSON object")
        return document


def _signing_keys(published: Mapping[str, Any]) -> KeySet:
    """Return the public keys of a key set. Raises JoseError, ValueError or TypeError for a malformed one."""
    entries = published.get("keys") or ()
    # Secret keys ("oct") are left out: whoever reads the set could sign with them.
    keys = [key for key in entries if isinstance(key, dict) and key.get("kty") in _KEY_TYPES]
    return KeySet.import_key_set({"keys": keys})

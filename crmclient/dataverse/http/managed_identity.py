"""Tokens for the identity that Azure gives to the machine, container or app that the service runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import requests

from crmclient.dataverse.http.client_credentials import token_of
from crmclient.dataverse.http.token_refusals import TokenRefused
from crmclient.dataverse.http.tokens import Token
from crmclient.errors import Unavailable
from crmclient.sentences import Sentence


class IdentityUnavailable(Unavailable):
    """Nothing on this machine answers for a managed identity."""


@dataclass(frozen=True)
class ManagedIdentity:
    """`client_id` is that of a user-assigned identity; empty: the machine's own. `resource` is the
    organisation's URL.
    """

    client_id: str
    resource: str

    def fetch(self, timeout: float) -> Token:
        """Fetch a new token. `timeout` bounds each request, in seconds.

        Raises IdentityUnavailable where nothing answers for the identity, and TokenRefused for an answer
        without a token.
        """
        # The library takes longer to import than everything else here together.
        import msal  # type: ignore[import-untyped]

        identity: Any = msal.SystemAssignedManagedIdentity()
        if self.client_id:
            identity = msal.UserAssignedManagedIdentity(client_id=self.client_id)
        try:
            with _Session(timeout) as session:
                # Made anew each time: its cache may hold the token that was refused.
                client = msal.ManagedIdentityClient(identity, http_client=session)
                answer = client.acquire_token_for_client(resource=self.resource)
        except Exception as error:
            # Where no endpoint for identities is, the library's HTTP errors and those of JSON come through.
            raise IdentityUnavailable(
                Sentence("No managed identity answers here (%(reason)s).", reason=type(error).__name__),
                retry_after=5,
            ) from error
        try:
            return token_of(answer)
        except (KeyError, TypeError, ValueError):
            reason = answer.get("error_description") if isinstance(answer, dict) else None
            raise TokenRefused(
                Sentence("The managed identity got no token (%(reason)s).", reason=str(reason)),
                Sentence(
                    "On Azure, assign the identity to this machine, container or app. Let CRM_CLIENT_ID be "
                    "the client id of a user-assigned identity, or empty."
                ),
            ) from None


class _Session(requests.Session):
    """A session with the endpoint for managed identities, which no proxy leads to.

    `timeout` bounds each request, in seconds.
    """

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self.trust_env = False
        self._timeout = timeout

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        options.setdefault("timeout", self._timeout)
        return super().request(*arguments, **options)

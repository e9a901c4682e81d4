"""The studio's port, implemented."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from crmclient import Guid
from designer import ports
from designer.configuration import Configuration, Endpoint
from designer.definitions import IssuerDefinition, UserPropertyDefinition
from designer.names import USER_TYPE
from designer.platform import get_platform
from runtime.callers.issuers import of_environment
from runtime.callers.platform_users import platform_users
from runtime.describe.audience import ANONYMOUS_READERS, Audience
from runtime.describe.openapi_document import openapi
from runtime.http.problems import Problem
from runtime.serving.served import current
from runtime.studio.issuer_discovery import discovered, unreachable
from runtime.studio.preview import preview
from runtime.studio.rehearsals import rehearse
from runtime.studio.token_explanation import explain
from runtime.studio.tried_calls import attempt
from runtime.studio.user_examples import user_example


class StudioRuntime:
    """Implements `designer.ports.Runtime`."""

    def preview(self, endpoint: Endpoint, base: str) -> ports.Preview:
        return preview(endpoint, base)

    def attempt(
        self, endpoint: Endpoint, configuration: Configuration, attempted: ports.Attempt
    ) -> ports.Outcome:
        return attempt(endpoint, configuration, attempted)

    def rehearse(
        self, endpoint: Endpoint, configuration: Configuration, attempted: ports.Attempt
    ) -> ports.Rehearsal:
        return rehearse(endpoint, configuration, attempted)

    def user_example(
        self,
        properties: Sequence[UserPropertyDefinition],
        name: str,
        user: Guid,
        roles: Collection[str],
        caller_type: str = USER_TYPE,
        claims: Mapping[str, Any] = ports.NO_CLAIMS,
    ) -> ports.UserExample:
        return user_example(properties, name, user, roles, caller_type, claims)

    def openapi(self, roles: Collection[str] | None, caller_type: str = USER_TYPE) -> bytes:
        audience = ANONYMOUS_READERS if roles is None else Audience(frozenset(roles), caller_type)
        try:
            return orjson.dumps(openapi(current(), audience))
        except Problem as problem:
            raise ports.NotReady(problem.sentence) from problem

    def explain_token(self, token: str, configuration: Configuration) -> ports.Explanation:
        return explain(token, configuration)

    def discover(self, issuer: str, address: str) -> ports.DiscoveredIssuer:
        return discovered(issuer, address)

    def reachable_keys(self, issuer: IssuerDefinition) -> str:
        return unreachable(issuer)

    def environment_issuers(self) -> Sequence[IssuerDefinition]:
        return [known.definition for known in of_environment().values()]

    def users(self) -> Mapping[Guid, str]:
        return platform_users(get_platform())

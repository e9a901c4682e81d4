"""The studio's port, implemented."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from crmclient import Guid
from crmclient.metadata import ENGLISH
from designer import ports
from designer.configuration import Configuration, Endpoint
from designer.definitions import IssuerDefinition, UserPropertyDefinition
from designer.names import USER_TYPE
from designer.platform import get_platform
from runtime.callers.issuers import environment_issuers
from runtime.callers.platform_users import platform_users
from runtime.describe.api_schema import Schema
from runtime.describe.audience import ANONYMOUS_READERS, Audience
from runtime.describe.openapi_document import openapi
from runtime.describe.proposed_configuration import served_of
from runtime.http.problems import Problem
from runtime.studio import issuer_discovery, known_callers
from runtime.studio.preview import preview
from runtime.studio.rehearsals import rehearse
from runtime.studio.token_explanation import explain
from runtime.studio.tried_calls import attempt
from runtime.studio.user_examples import user_example


class StudioRuntime:
    """Implements `designer.ports.Runtime`, which describes each method."""

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

    def openapi(
        self,
        roles: Collection[str] | None,
        caller_type: str = USER_TYPE,
        configuration: Configuration | None = None,
    ) -> bytes:
        with _problems_as_not_ready():
            return orjson.dumps(openapi(served_of(configuration), _audience(roles, caller_type)))

    def schema(
        self,
        roles: Collection[str] | None,
        caller_type: str = USER_TYPE,
        configuration: Configuration | None = None,
    ) -> bytes:
        with _problems_as_not_ready():
            return Schema(served_of(configuration), _audience(roles, caller_type), ENGLISH).document()

    def explain_token(self, token: str, configuration: Configuration) -> ports.Explanation:
        return explain(token, configuration)

    def caller_names(self, kind: ports.CallerSource, most: int) -> Sequence[str]:
        return known_callers.caller_names(kind, most)

    def caller_named(
        self, kind: ports.CallerSource, name: str, configuration: Configuration
    ) -> ports.KnownCaller | None:
        return known_callers.caller_named(kind, name, configuration)

    def callers_of_record(
        self, caller_type: str, record: Guid, configuration: Configuration
    ) -> Sequence[ports.KnownCaller]:
        return list(known_callers.callers_of_record(caller_type, record, configuration))

    def discover(self, issuer: str, address: str) -> ports.DiscoveredIssuer:
        return issuer_discovery.discovered(issuer, address)

    def key_problem(self, issuer: IssuerDefinition) -> str:
        return issuer_discovery.key_problem(issuer)

    def environment_issuers(self) -> Sequence[IssuerDefinition]:
        return [issuer.definition for issuer in environment_issuers().values()]

    def users(self) -> Mapping[Guid, str]:
        return platform_users(get_platform())


def _audience(roles: Collection[str] | None, caller_type: str) -> Audience:
    """Return the readers with these roles; None stands for readers without a token."""
    return ANONYMOUS_READERS if roles is None else Audience(frozenset(roles), caller_type)


@contextmanager
def _problems_as_not_ready() -> Iterator[None]:
    """Raise NotReady in place of a Problem that is raised inside, such as of descriptions that are still
    being made.
    """
    try:
        yield
    except Problem as problem:
        raise ports.NotReady(problem.sentence) from problem

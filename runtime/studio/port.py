"""The studio's port, implemented."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import orjson

from crmclient import Guid
from designer import ports
from designer.configuration import Configuration, Endpoint
from designer.definitions import UserPropertyDefinition
from designer.platform import get_platform
from runtime.callers.platform_users import platform_users
from runtime.describe.audience import Audience
from runtime.describe.openapi_document import openapi
from runtime.http.problems import Problem
from runtime.serving.served import current
from runtime.studio.preview import preview
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

    def user_example(
        self,
        properties: Sequence[UserPropertyDefinition],
        name: str,
        user: Guid,
        roles: Collection[str],
    ) -> ports.UserExample:
        return user_example(properties, name, user, roles)

    def openapi(self, roles: Collection[str] | None) -> bytes:
        audience = Audience(None if roles is None else frozenset(roles))
        try:
            return orjson.dumps(openapi(current(), audience))
        except Problem as problem:
            raise ports.NotReady(problem.sentence) from problem

    def users(self) -> Mapping[Guid, str]:
        return platform_users(get_platform())

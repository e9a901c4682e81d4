"""Delete: `DELETE /api/{module}/{endpoint}/{id}` → 204."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform
from designer.configuration import Endpoint
from designer.kinds.versions import VersionSettings
from runtime.http.if_match import Versions
from runtime.operations.base import Description, Operation
from runtime.operations.message_language import language_parameter, read_parameters_and_language
from runtime.request_context import Exchange
from runtime.steps import Steps


class DeleteOperation(Operation):
    kind: ClassVar[str] = "delete"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.entity = self.require_entity()
        self.steps = Steps(endpoint, platform)
        self.versions = Versions(self.steps.version, self.settings(VersionSettings))

    def run(self, exchange: Exchange) -> HttpResponse:
        """Delete the record, and answer 204. Raises Problem."""
        read_parameters_and_language(self.endpoint.definition, exchange)
        # A wrong id is a Problem 400 before any step is done.
        exchange.check_record_id()
        wanted_versions = self.versions.wanted(exchange.request)
        self.steps.write(exchange, wanted_versions, lambda record, version: self._delete(exchange, version))
        return HttpResponse(status=204)

    def _delete(self, exchange: Exchange, version: str | None) -> None:
        self.platform.delete(self.entity, exchange.record_id, if_version=version, call=exchange.call)

    def describe(self) -> Description:
        return Description(
            success=(204, None, "The record was deleted."),
            parameters=(*self.versions.parameters(), *language_parameter(self.endpoint.definition)),
            problems=self.steps.problems(
                {
                    **self.versions.problems("invalid_id", "invalid_parameter"),
                    409: ("state_conflict",),
                    422: ("platform_refused",),
                }
            ),
        )

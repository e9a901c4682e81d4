"""Associate: `PUT` and `DELETE /api/{module}/{endpoint}/{id}/{name}/{relatedId}` → 204, however often.

Both records must be reached by the caller: the path's own as for any call on a record, the related one under
the row rule of its exposed entity. No row rule looks at associations, so none can be left by making one.
"""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform
from crmclient.errors import RecordNotFound, UnknownRelationship
from designer.configuration import Endpoint
from designer.kinds.associate import ASSOCIATE_METHOD, AssociateSettings
from designer.sentences import Sentence
from runtime.http.bodies import refuse_body
from runtime.http.failures import Misconfigured
from runtime.operations.base import Description, Operation
from runtime.operations.message_language import language_parameter, read_parameters_and_language
from runtime.request_context import Exchange
from runtime.steps import Steps
from runtime.steps.rules import rule_of_exposure


class AssociateOperation(Operation):
    kind: ClassVar[str] = "associate"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(AssociateSettings)
        self.entity = self.require_entity()
        self.relationship = settings.relationship
        relationship = settings.relationship_among(platform.relationships(self.entity))
        other = None if relationship is None else relationship.other_end(self.entity)
        if other is None:
            raise UnknownRelationship(self.entity, settings.relationship)
        exposure = settings.related_among(endpoint.exposures)
        # The exposed entity says which related records callers reach. Without it they would reach all.
        if exposure is None or exposure.entity != other:
            raise Misconfigured(Sentence("no exposed entity of %(entity)s is chosen", entity=other))
        self.related = other
        self.related_rule = rule_of_exposure(exposure, platform)
        self.steps = Steps(endpoint, platform)

    def run(self, exchange: Exchange) -> HttpResponse:
        """Associate the two records of the path for PUT, or end their association for DELETE. Answer 204."""
        read_parameters_and_language(self.endpoint.definition, exchange)
        refuse_body(exchange.request)
        id, related = exchange.record_id, exchange.related_id
        self.steps.run(exchange)
        if self.related_rule is not None and not self.related_rule.reaches(related, exchange):
            raise RecordNotFound(self.related, related)
        associates = exchange.request.method == ASSOCIATE_METHOD
        write = self.platform.associate if associates else self.platform.disassociate
        write(self.entity, id, self.relationship, related, call=exchange.call)
        return HttpResponse(status=204)

    def describe(self) -> Description:
        return Description(
            success=(204, None, "It is done, or was so already."),
            related=self.related,
            parameters=language_parameter(self.endpoint.definition),
            problems=self.steps.problems(
                {
                    400: ("invalid_id", "invalid_parameter", "malformed_body"),
                    409: ("state_conflict",),
                    422: ("platform_refused",),
                }
            ),
        )

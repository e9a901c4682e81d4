"""Read: `GET /api/{module}/{endpoint}/{id}` → 200 object + `ETag`; 304 where the caller holds it."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse

from crmclient import Platform
from crmclient.known_options import known_options
from designer.configuration import Endpoint
from designer.sentences import Sentence
from runtime.http.conditions import digest
from runtime.http.failures import Misconfigured
from runtime.http.if_match import WantedVersions
from runtime.http.query_string import LCID
from runtime.http.rendering import JSON, render
from runtime.operations.base import Description, Operation
from runtime.operations.message_language import language_parameter, read_parameters_and_language
from runtime.request_context import Exchange
from runtime.steps import FoundRecord, Steps
from runtime.values.columns import Columns
from runtime.values.option_labels import OptionLabels


class ReadOperation(Operation):
    kind: ClassVar[str] = "read"
    is_tagged: ClassVar[bool] = True

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        self.entity = self.require_entity()
        definition = endpoint.definition
        if not definition.columns:
            raise Misconfigured(Sentence("a read needs columns"))
        attributes = platform.attributes(self.entity)
        self.has_labels = definition.settings.has_labels
        labels = {
            name: OptionLabels(known_options(attributes[name], platform.option_set), platform)
            for name in (column.attribute for column in definition.columns)
            if self.has_labels and name in attributes and attributes[name].type.has_options
        }
        self.columns = Columns(definition.columns, attributes, labels)
        self.steps = Steps(endpoint, platform, reads=self.columns.attributes)
        self.parameters = frozenset({"lcid"}) if self.has_labels else frozenset()

    def run(self, exchange: Exchange) -> HttpResponse:
        """Answer the columns of the record, with an `ETag`."""
        read_parameters_and_language(self.endpoint.definition, exchange, self.parameters)
        record = self.steps.read(exchange)
        content = render(self.columns.answer(record.values, exchange.lcid, exchange))
        # The digest, too: an answer changes with its language and its configuration, the version does not.
        # Where only this record has no version, as some have on Dataverse, it is an empty one: `If-Match`
        # would take a digest alone for a version.
        has_none = record.version is None and not self.steps.version
        version = "" if has_none else f"{record.version or ''}."
        tag = f'"{version}{digest(content)}"'
        return HttpResponse(content, content_type=JSON, headers={"ETag": tag})

    def hold_back(self, silent: Platform, exchange: Exchange) -> None:
        # One request to the platform serves the rules and the answer. A dry run only sends what the rules
        # need.
        self.steps = _StepsBeforeRead(self, silent)
        super().hold_back(silent, exchange)

    def describe(self) -> Description:
        return Description(
            success=(200, self.columns.schema(), "The record."),
            columns=self.columns.fields(),
            parameters=(LCID,) if self.has_labels else language_parameter(self.endpoint.definition),
            headers={
                **self.cache_headers(),
                "ETag": "The record's version, and a digest of this answer."
                if self.steps.version
                else "A digest of this answer.",
            },
            problems=self.steps.problems({400: ("invalid_id", "invalid_parameter")}),
        )


class _StepsBeforeRead(Steps):
    """The steps of a read in a dry run: they read what the rules need from the platform, and the answer from
    `silent`.
    """

    def __init__(self, operation: ReadOperation, silent: Platform) -> None:
        super().__init__(operation.endpoint, silent, reads=operation.columns.attributes)
        self._rules = Steps(operation.endpoint, operation.platform)

    def read(self, exchange: Exchange, wanted_versions: WantedVersions = None) -> FoundRecord:
        self._rules.run(exchange, wanted_versions)
        return super().read(exchange, wanted_versions)

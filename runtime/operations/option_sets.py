"""Option sets, global and local: 200 `[{"name", "value"}]`.

`GET /optionsets/{name}`, `GET /{module}/{entity}/optionsets/{name}`
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from django.http import HttpResponse

from crmclient import Platform
from crmclient.metadata import ENGLISH
from designer.configuration import Endpoint
from designer.endpoint_facts.served_options import served_options
from designer.expressions import ExpressionError
from designer.kinds.option_sets import OptionSetSettings
from designer.sentences import Sentence
from runtime.http.conditions import digest, is_not_modified
from runtime.http.failures import Misconfigured
from runtime.http.query_string import LCID, read_lcid, read_parameters
from runtime.http.rendering import JSON, render
from runtime.operations.base import Description, Operation
from runtime.request_context import Exchange

_PARAMETERS = frozenset({"lcid"})


class _Page(NamedTuple):
    """The JSON of an answer, and its entity tag (`ETag`)."""

    content: bytes
    tag: str


class OptionSetOperation(Operation):
    """Answers with an option set.

    It is read once for each revision, and its JSON is made once for each language.
    """

    public_cache = True

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        settings = self.settings(OptionSetSettings)
        if not settings.option_set:
            raise Misconfigured(Sentence("no option set is chosen"))
        self.option_set = platform.option_set(settings.option_set, entity=self._entity())
        self.base_language = platform.languages()[0]
        try:
            self.options = served_options(settings, self.option_set)
        except ExpressionError as error:
            raise Misconfigured(Sentence("the filter: %(reason)s", reason=str(error))) from error
        self.languages = self.option_set.languages
        # By language. Callers choose it, so only languages that the set has labels in are kept.
        self._pages: dict[int, _Page] = {}

    def _entity(self) -> str | None:
        """Return the entity whose attribute has the option set; None for a global option set."""
        return None

    def run(self, exchange: Exchange) -> HttpResponse:
        """Answer the options with labels in the language that the caller asks for, or in English."""
        lcid = read_lcid(read_parameters(exchange.request, _PARAMETERS), ENGLISH)
        if lcid not in self.languages:
            lcid = ENGLISH
        page = self._pages.get(lcid)
        if page is None:
            page = self._pages[lcid] = self._page(lcid)
        headers = {"ETag": page.tag}
        if is_not_modified(exchange.request, page.tag):
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(page.content, content_type=JSON, headers=headers)

    def describe(self) -> Description:
        option = {
            "type": "object",
            "properties": {"name": {"type": "string"}, "value": {"type": "integer"}},
            "required": ["name", "value"],
            "additionalProperties": False,
        }
        return Description(
            success=(200, {"type": "array", "items": option}, "The options, in their order."),
            parameters=(LCID,),
            headers={"ETag": "Stands for this answer."},
            problems={400: ("invalid_parameter",)},
            example=self._options(ENGLISH),
            option_set=replace(self.option_set, options=self.options),
        )

    def _page(self, lcid: int) -> _Page:
        """Return the answer in one language."""
        content = render(self._options(lcid))
        return _Page(content, f'"{digest(content)}"')

    def _options(self, lcid: int) -> list[dict[str, Any]]:
        """Return the options with their labels in one language, or in the platform's base language without
        such a label.
        """
        return [
            {"name": option.label.text(lcid, self.base_language), "value": option.value}
            for option in self.options
        ]


class GlobalOptionSetOperation(OptionSetOperation):
    kind: ClassVar[str] = "option-set"


class LocalOptionSetOperation(OptionSetOperation):
    kind: ClassVar[str] = "local-option-set"

    def _entity(self) -> str | None:
        return self.require_entity()

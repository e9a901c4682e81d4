"""Option sets, global and local: 200 `[{"name", "value"}]`.

`GET /optionsets/{name}`, `GET /{module}/{entity}/optionsets/{name}`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from django.http import HttpResponse

from crmclient import Platform
from crmclient.metadata import ENGLISH, Option
from designer.calendar import present
from designer.configuration import Endpoint
from designer.expressions import Expression, ExpressionError
from designer.kinds.option_sets import OptionFilter, OptionSetSettings
from designer.sentences import Sentence
from runtime.http.conditions import digest, not_modified
from runtime.http.failures import Misconfigured
from runtime.http.query_string import LCID, read_lcid, read_parameters
from runtime.http.rendering import JSON, render
from runtime.operations.base import Description, Operation
from runtime.request_context import Exchange

_PARAMETERS = frozenset({"lcid"})
# The JSON of an answer, and its entity tag.
_Page = tuple[bytes, str]


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
        keeps = _filter(settings.filter)
        self.options = tuple(
            option
            for option in self.option_set.options
            if (settings.include_inactive or not self.option_set.is_inactive(option)) and keeps(option)
        )
        self.languages = self.option_set.languages
        # By language. Callers choose it, so only languages that the set has labels in are kept.
        self._pages: dict[int, _Page] = {}

    def _entity(self) -> str | None:
        return None

    def run(self, exchange: Exchange) -> HttpResponse:
        lcid = read_lcid(read_parameters(exchange.request, _PARAMETERS), ENGLISH)
        if lcid not in self.languages:
            lcid = ENGLISH
        page = self._pages.get(lcid)
        if page is None:
            page = self._pages[lcid] = self._page(lcid)
        content, tag = page
        headers = {"ETag": tag}
        if not_modified(exchange.request, tag):
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(content, content_type=JSON, headers=headers)

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
        content = render(self._options(lcid))
        return content, f'"{digest(content)}"'

    def _options(self, lcid: int) -> list[dict[str, Any]]:
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


def _filter(chosen: OptionFilter) -> Callable[[Option], bool]:
    """Return the function that says whether an option is answered. Raises Misconfigured."""
    values = frozenset(chosen.values)
    match chosen.mode:
        case "keep":
            return lambda option: option.value in values
        case "leave_out":
            return lambda option: option.value not in values
        case "expression":
            return _expression(chosen.expression)
        case _:
            return lambda option: True


def _expression(text: str) -> Callable[[Option], bool]:
    """Compile a CEL filter over options. Raises Misconfigured."""
    try:
        expression = Expression(text, names=("value", "label", "color", "state"))
    except ExpressionError as error:
        raise Misconfigured(Sentence("the filter: %(reason)s", reason=str(error))) from error

    def keeps(option: Option) -> bool:
        names = {
            "value": option.value,
            "label": option.label.text(),
            "color": option.color,
            "state": option.state,
        }
        try:
            return expression.evaluate(names, present()) is True
        except ExpressionError as error:
            raise Misconfigured(Sentence("the filter: %(reason)s", reason=str(error))) from error

    return keeps

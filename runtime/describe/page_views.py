"""Views of `/api/openapi.json` and `.yaml`, `/api/schema` and everything below it, and `/api/docs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import parse_qs

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render as render_page

from crmclient.metadata import ENGLISH
from designer.languages import language_name
from runtime.describe.api_schema import Schema
from runtime.describe.audience import Audience, audience_of, modules
from runtime.describe.document_cache import DOCUMENTS, tag_of
from runtime.describe.openapi_document import as_yaml, openapi
from runtime.describe.own_routes import PAGES, Page
from runtime.describe.proposed_configuration import META_NAME, NOT_STORED, VARY, proposal_in
from runtime.describe.schema_forms import form_of
from runtime.describe.schema_parts import LIST_NAMES
from runtime.describe.schema_shapes import document_schema
from runtime.http.conditions import is_not_modified
from runtime.http.limits import count_address
from runtime.http.long_answers import GZIP, compressed, in_pieces, takes_gzip, unpacked
from runtime.http.problems import FieldError
from runtime.http.query_string import invalid_parameters, read_lcid, read_parameters
from runtime.http.rendering import refuse_unacceptable, render
from runtime.serving.builtin_routes import counted, exchange_of
from runtime.serving.routing import add_builtin
from runtime.serving.served import Served, current
from runtime.serving.viewsets import GuardedViewSet

# More operations than this are shown a module at a time, and of a module no more at once.
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What a reader asks for: who reads, which configuration, and in which form.

    `name` is the name at the end of the path. `lcid` is a language with texts. With `module`, only this
    module is described. `version` is the version of OpenAPI. `form` names one operation to show as a form.
    """

    served: Served
    audience: Audience
    name: str = ""
    lcid: int = ENGLISH
    module: str = ""
    version: str = "3.1"
    form: str = ""


# Makes a page for a reader. Raises Problem 404 for what the reader may not see.
Make: TypeAlias = Callable[[PageRequest], bytes]


def serve() -> None:
    """Add the routes of all pages that describe the API."""
    for page in PAGES:
        view = PageViewSet.as_view({"get": "read"}, page=page, make=_MAKERS[page.operation_id])
        add_builtin(page.path, {"GET": partial(_answer_page, view, page)})
    add_builtin("/api/docs", {"GET": counted(count_address, docs)})


def _answer_page(view: Callable[..., HttpResponseBase], page: Page, request: HttpRequest) -> HttpResponseBase:
    """Answer a request to a page. The last segment of the path is the name of an entry if the page has one in
    its path.
    """
    path = request.path_info.removesuffix("/")
    name = path.rpartition("/")[2] if page.is_named else ""
    return view(request, exchange=exchange_of(request, name))


def docs(request: HttpRequest) -> HttpResponseBase:
    """Answer with the page of Swagger UI. It is the same for every reader: its script asks for what the
    reader may see.
    """
    served = current()
    lcids = parse_qs(request.META.get("QUERY_STRING", "")).get("lcid", [])
    if len(lcids) > 1:
        raise invalid_parameters([FieldError("repeated_parameter", "Must be given once.", parameter="lcid")])
    offered = served.configuration.languages()
    context = {
        "most_shown": MOST_SHOWN,
        "expansion": "list" if len(served.routes.ids()) <= MOST_SHOWN else "none",
        "lcid": read_lcid({"lcid": lcids[0]} if lcids else {}, ENGLISH),
        "languages": [(lcid, language_name(lcid)) for lcid in sorted(offered | {ENGLISH})] if offered else [],
    }
    return render_page(request, "runtime/docs.html", context)


class PageViewSet(GuardedViewSet):
    """Answers a page to whoever asks; PRIVATE_DESCRIPTIONS keeps it from those without a token."""

    page: Page = None  # type: ignore[assignment]
    make: Make = None  # type: ignore[assignment]
    answers_json = False

    def initial(self, request: HttpRequest) -> None:
        self.access = self.page.access
        super().initial(request)

    def read(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with the page, from the cache if it is there; 304 when the reader has it already."""
        page = self.page
        if not page.names_its_type:
            refuse_unacceptable(request.META.get("HTTP_ACCEPT"), page.media)
        page_request = self._page_request()
        tag, packed = self._tags(page_request)
        packs = takes_gzip(request)
        shown_tag = packed if packs else tag
        headers = {"ETag": shown_tag, "Vary": VARY}
        if page_request.served.is_proposed:
            headers |= NOT_STORED
        # A reader who has the page already gets no new one, and nothing is put together. `If-None-Match: *`
        # is compared below: only when the page is made does it turn out whether there is one.
        if shown_tag in request.META.get("HTTP_IF_NONE_MATCH", ""):
            return HttpResponse(status=304, headers=headers)
        content = DOCUMENTS.get(shown_tag, partial(self._packed if packs else self._plain, page_request))
        if is_not_modified(request, shown_tag):
            return HttpResponse(status=304, headers=headers)
        if packs:
            headers["Content-Encoding"] = GZIP
        if page.path.startswith("/api/schema"):
            headers["Link"] = '</api/schema/format>; rel="describedby"'
        return in_pieces(request, content, page.media, headers)

    def _tags(self, page_request: PageRequest) -> tuple[str, str]:
        """Return the entity tags of the plain and of the compressed answer."""
        parameters = (
            page_request.name,
            str(page_request.lcid),
            page_request.module,
            page_request.version,
            page_request.form,
        )
        tag = tag_of(page_request.served, page_request.audience, self.page.operation_id, *parameters)
        return tag, f'{tag[:-1]}-{GZIP}"'

    def _plain(self, page_request: PageRequest) -> bytes:
        """Return the page, made now unless its compressed form is cached."""
        document = DOCUMENTS.find(self._tags(page_request)[1])
        return self.make(page_request) if document is None else unpacked(document)

    def _packed(self, page_request: PageRequest) -> bytes:
        """Return the compressed page, made now unless its plain form is cached."""
        document = DOCUMENTS.find(self._tags(page_request)[0])
        return compressed(self.make(page_request) if document is None else document)

    def _page_request(self) -> PageRequest:
        """Return what the request asks for. Raises Problem 400 for wrong parameters, and 404 for a proposal
        that is not there.
        """
        page, exchange = self.page, self.exchange
        parameters = read_parameters(exchange.request, page.parameter_names)
        if errors := _wrong_choice(page, parameters):
            raise invalid_parameters(errors)
        proposal = exchange.request.META.get(META_NAME)
        served = current() if proposal is None else proposal_in(proposal)
        return PageRequest(
            served=served,
            audience=audience_of(exchange.caller, served),
            name=exchange.record,
            lcid=_language_with_texts(served, read_lcid(parameters, ENGLISH)),
            module=parameters.get("module", ""),
            version=parameters.get("version", "3.1"),
            form=parameters.get("form", ""),
        )


def _language_with_texts(served: Served, lcid: int) -> int:
    """Return `lcid` if the platform or the configuration has texts in this language, else English.

    Callers choose the language, and answers are cached by language: the cache must not grow with invented
    ones.
    """
    if lcid == ENGLISH or lcid in served.platform.languages() or lcid in served.configuration.languages():
        return lcid
    return ENGLISH


def _wrong_choice(page: Page, parameters: Mapping[str, str]) -> list[FieldError]:
    """Return an error for each parameter whose value is not one of those offered."""
    offered = {parameter["name"]: parameter["schema"].get("enum") for parameter in page.parameters}
    return [
        FieldError("not_allowed", f"Must be one of: {', '.join(choices)}.", parameter=name)
        for name, value in parameters.items()
        if (choices := offered[name]) and value not in choices
    ]


def _openapi_json(page_request: PageRequest) -> bytes:
    return orjson.dumps(_openapi(page_request))


def _openapi_yaml(page_request: PageRequest) -> bytes:
    return as_yaml(_openapi(page_request))


def _openapi(page_request: PageRequest) -> Mapping[str, Any]:
    """Return the OpenAPI document that the request asks for."""
    return openapi(
        page_request.served,
        page_request.audience,
        page_request.module,
        page_request.version,
        page_request.lcid,
    )


def _schema_json(page_request: PageRequest, only: str = "") -> bytes:
    """Return `/api/schema`; with `only`, one of its lists."""
    return _schema_for(page_request).document(only)


def _entry_json(page_request: PageRequest, list_name: str) -> bytes:
    """Return one entry of a list or, if the request asks for it, one of its operations as a form."""
    schema = _schema_for(page_request)
    if page_request.form:
        return render(form_of(schema.part(list_name, page_request.name, page_request.form), schema.renderer))
    return schema.one(list_name, page_request.name)


def _modules_json(page_request: PageRequest) -> bytes:
    return render({"modules": modules(page_request.served, page_request.audience, page_request.lcid)})


def _format_json(page_request: PageRequest) -> bytes:
    return document_schema()


def _schema_for(page_request: PageRequest) -> Schema:
    """Return what makes `/api/schema` for the request's readers."""
    return Schema(page_request.served, page_request.audience, page_request.lcid, page_request.module)


_MAKERS: Mapping[str, Make] = {
    "openapi.json": _openapi_json,
    "openapi.yaml": _openapi_yaml,
    "schema": _schema_json,
    "schema.modules": _modules_json,
    "schema.format": _format_json,
    **{f"schema.{list_name}": partial(_schema_json, only=list_name) for list_name in LIST_NAMES},
    **{f"schema.{list_name}.one": partial(_entry_json, list_name=list_name) for list_name in LIST_NAMES},
}

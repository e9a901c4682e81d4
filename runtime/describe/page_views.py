"""`GET /api/schema` and what stands under it, `GET /api/openapi.json` and `.yaml`."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from crmclient.metadata import ENGLISH
from designer.definitions import AccessDefinition
from runtime.describe.audience import audience_of
from runtime.describe.compression import GZIP, compressed, takes_gzip, unpacked
from runtime.describe.document_cache import DOCUMENTS, tag_of
from runtime.describe.documentation import Documentation
from runtime.describe.own_pages import Asked, Page, wrong_choice
from runtime.describe.schema_shapes import components
from runtime.describe.sending import sent
from runtime.http.accept import refuse_unacceptable
from runtime.http.conditions import not_modified
from runtime.http.query_string import invalid_parameters, read_lcid, read_parameters
from runtime.operations.base import Description
from runtime.serving.served import current
from runtime.serving.viewsets import GuardedViewSet


class PageViewSet(GuardedViewSet):
    """Answers a page to whoever asks; PRIVATE_DESCRIPTIONS keeps it from those without a token."""

    page: Page = None  # type: ignore[assignment]
    answers_json = False

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.access = AccessDefinition(authentication_required=settings.PORTICO["PRIVATE_DESCRIPTIONS"])

    def read(self, request: Request, **kwargs: Any) -> HttpResponseBase:
        page, plain = self.page, request._request
        if not page.names_its_type:
            refuse_unacceptable(plain.META.get("HTTP_ACCEPT"), page.media)
        asked = self._asked()
        tag, packed = self._tags(asked)
        packs = takes_gzip(plain)
        shown = packed if packs else tag
        headers = {"ETag": shown, "Vary": "Authorization, Accept-Encoding"}
        # For who has it, nothing is put together; `*` asks whether there is anything at all.
        if shown in plain.META.get("HTTP_IF_NONE_MATCH", ""):
            return HttpResponse(status=304, headers=headers)
        content = DOCUMENTS.get(shown, partial(self._packed if packs else self._plain, asked))
        if not_modified(plain, shown):
            return HttpResponse(status=304, headers=headers)
        if packs:
            headers["Content-Encoding"] = GZIP
        if page.path.startswith("/api/schema"):
            headers["Link"] = '</api/schema/format>; rel="describedby"'
        return sent(plain, content, page.media, headers)

    def _tags(self, asked: Asked) -> tuple[str, str]:
        """The entity tags of the answer as it is and packed."""
        parameters = (asked.name, str(asked.lcid), asked.module, asked.version, asked.form)
        tag = tag_of(asked.served, asked.audience, self.page.operation_id, *parameters)
        return tag, f'{tag[:-1]}-{GZIP}"'

    def _plain(self, asked: Asked) -> bytes:
        known = DOCUMENTS.find(self._tags(asked)[1])
        return self.page.make(asked) if known is None else unpacked(known)

    def _packed(self, asked: Asked) -> bytes:
        known = DOCUMENTS.find(self._tags(asked)[0])
        return compressed(self.page.make(asked) if known is None else known)

    def _asked(self) -> Asked:
        page, exchange = self.page, self.exchange
        parameters = read_parameters(exchange.request, page.known)
        if errors := wrong_choice(page, parameters):
            raise invalid_parameters(errors)
        served = current()
        lcid = read_lcid(parameters, ENGLISH)
        return Asked(
            served=served,
            audience=audience_of(exchange.caller, served),
            name=exchange.record,
            # Callers choose: what is kept for each language must not grow with their imagination.
            lcid=lcid if lcid in served.platform.languages() else ENGLISH,
            module=parameters.get("module", ""),
            version=parameters.get("version", "3.1"),
            form=parameters.get("form", ""),
        )

    def document(self) -> Documentation:
        page = self.page
        return Documentation(page.operation_id, page.summary, page.description, "Introspection", self.access)

    def describe(self) -> Description:
        page = self.page
        return Description(
            success=(200, dict(page.answer), page.summary),
            media=page.media,
            parameters=tuple(dict(given) for given in page.parameters),
            headers={"ETag": "Stands for this answer."},
            problems={400: ("invalid_parameter",), 503: ("not_described_yet",)},
            components=components(),
        )

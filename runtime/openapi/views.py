"""`GET /api/openapi.json`, `GET /api/openapi.yaml`, and Swagger UI at `/api/docs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from runtime.callers.views import RefreshView, TokenView
from runtime.conditions import not_modified
from runtime.context.viewset import ContextViewSet
from runtime.openapi.document import Documents
from runtime.rendering import JSON
from runtime.serving import current

MOST_UNFOLDED = 200

_documents = Documents(
    [
        ("/api/token", "POST", TokenView.as_view()),
        ("/api/token/refresh", "POST", RefreshView.as_view()),
        ("/api/context", "GET", ContextViewSet.as_view({"get": "read"})),
    ]
)


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI, from this host alone. Operations are unfolded while a page can hold them all."""

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        if "settings" in response.data and len(current().routes.ids()) <= MOST_UNFOLDED:
            unfolded = {**spectacular_settings.SWAGGER_UI_SETTINGS, "docExpansion": "list"}
            response.data["settings"] = self._dump(unfolded)  # type: ignore[no-untyped-call]
        return response


_docs = DocsView.as_view(url="/api/openapi.json")


def openapi_json(request: HttpRequest) -> HttpResponseBase:
    document = _documents.of(current())
    return _answer(request, document.tag, lambda: document.content, JSON)


def openapi_yaml(request: HttpRequest) -> HttpResponseBase:
    document = _documents.of(current())
    return _answer(request, document.yaml_tag, lambda: document.yaml, "application/yaml")


def docs(request: HttpRequest) -> HttpResponseBase:
    return _docs(request).render()  # type: ignore[no-any-return]


def _answer(request: HttpRequest, tag: str, content: Callable[[], bytes], media: str) -> HttpResponse:
    headers = {"ETag": tag, "Cache-Control": "public, no-cache"}
    if not_modified(request, tag):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(content(), content_type=media, headers=headers)

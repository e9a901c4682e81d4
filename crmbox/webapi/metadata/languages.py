"""The languages of the organisation."""

from __future__ import annotations

from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named

_NAMESPACE = "Microsoft.Dynamics.CRM"


@named("RetrieveProvisionedLanguages", "GET")
def provisioned(request: Request) -> Response:
    return _languages(request, "RetrieveProvisionedLanguages", "RetrieveProvisionedLanguages")


@named("RetrieveAvailableLanguages", "GET")
def available(request: Request) -> Response:
    return _languages(request, "RetrieveAvailableLanguages", "LocaleIds")


def _languages(request: Request, function: str, output: str) -> Response:
    context = f"{request.base}$metadata#{_NAMESPACE}.{function}Response"
    return json_response({"@odata.context": context, output: list(request.platform.languages())})

"""“View as”: the API that callers of a type and role see, from the description that its callers are given.

Of what is live or, with the number of one in the address, of what a proposal would make of it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.access_control.access_matrix import types_in_use
from designer.configuration import Configuration
from designer.definitions import CallerTypeDefinition
from designer.documents.problems import DocumentError
from designer.loading import latest
from designer.models import Proposal, Role
from designer.names import USER_TYPE
from designer.ports import NotReady, get_runtime
from designer.proposals.proposed_state import proposed_configuration
from designer.sentences import said
from designer.studio.look import dress
from designer.studio.pages.base import StudioPage, StudioView
from designer.studio.trying.caller_fields import type_field

ANYONE = "anonymous"
# In the address: the number of a proposal.
PROPOSAL = "proposal"
_METHODS = ("get", "post", "patch", "put", "delete")
_MAY = "designer.view_endpoint"


class SeenOperation(NamedTuple):
    method: str
    path: str
    summary: str
    # The page of the endpoint, where it is one: the service has operations of its own.
    link: str


class ReadersForm(forms.Form):
    """Whose eyes: those of a caller type with any roles together, or nobody's.

    The type is asked for where more than one is in use.
    """

    def __init__(self, types: Sequence[CallerTypeDefinition], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if len(types) > 1:
            self.fields["type"] = type_field(types)
        roles = [(role.name, str(role)) for role in Role.objects.all()]
        field = forms.MultipleChoiceField(
            label=gettext_lazy("Roles"),
            choices=[*roles, (ANYONE, gettext_lazy("Anonymous: no token at all"))],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy(
                "If you choose no role, you see what somebody with a token and no role sees."
            ),
        )
        self.fields["role"] = dress(field)


class ViewAsPage(StudioPage):
    title = gettext_lazy("View as")
    permission_required = _MAY
    template_name = "designer/pages/view_as.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        chosen = self.request.GET.getlist("role")
        groups: defaultdict[str, list[SeenOperation]] = defaultdict(list)
        proposal = _proposal(self.request)
        links = _links() if proposal is None else {}
        not_ready = ""
        try:
            document = json.loads(_openapi(self.request, _configuration(proposal)))
        except NotReady as error:
            document, not_ready = {}, str(error)
        for path, item in document.get("paths", {}).items():
            for method in _METHODS:
                if method in item:
                    operation = item[method]
                    tag = next(iter(operation.get("tags", ())), _("Other"))
                    link = links.get((method.upper(), path), "")
                    operation_row = SeenOperation(method.upper(), path, operation.get("summary", ""), link)
                    groups[tag].append(operation_row)
        return super().get_context_data(
            form=ReadersForm(
                types_in_use(latest()), initial={"role": chosen, "type": _caller_type(self.request)}
            ),
            # What was configured comes before what the service has of its own.
            groups=dict(
                sorted(
                    groups.items(),
                    key=lambda group: not any(operation_row.link for operation_row in group[1]),
                )
            ),
            not_ready=not_ready,
            count=sum(len(group) for group in groups.values()),
            query=self.request.GET.urlencode(),
            proposal=proposal,
            **kwargs,
        )


class _Viewed(StudioView):
    """A document itself, as these callers get it."""

    permission_required = _MAY
    http_method_names = ["get"]
    file_name = ""

    def get(self, request: HttpRequest) -> HttpResponse:
        try:
            content = self.content(request, _configuration(_proposal(request)))
        except NotReady as error:
            return HttpResponse(
                str(error), status=503, content_type="text/plain", headers={"Retry-After": "5"}
            )
        answer = HttpResponse(content, content_type="application/json")
        answer["Content-Disposition"] = f'attachment; filename="{self.file_name}"'
        return answer

    def content(self, request: HttpRequest, configuration: Configuration | None) -> bytes:
        """Return what the page shows. Raises NotReady."""
        raise NotImplementedError


class ViewedDocument(_Viewed):
    file_name = "openapi.json"

    def content(self, request: HttpRequest, configuration: Configuration | None) -> bytes:
        return _openapi(request, configuration)


class ViewedSchema(_Viewed):
    file_name = "schema.json"

    def content(self, request: HttpRequest, configuration: Configuration | None) -> bytes:
        return get_runtime().schema(_roles(request), _caller_type(request), configuration)


def _openapi(request: HttpRequest, configuration: Configuration | None) -> bytes:
    return get_runtime().openapi(_roles(request), _caller_type(request), configuration)


def _roles(request: HttpRequest) -> list[str] | None:
    roles = request.GET.getlist("role")
    return None if ANYONE in roles else roles


def _proposal(request: HttpRequest) -> Proposal | None:
    """The one that the address names. Raises Http404."""
    number = request.GET.get(PROPOSAL, "")
    if not number:
        return None
    if not request.user.has_perm("designer.view_proposal") or not (number.isascii() and number.isdecimal()):
        raise Http404
    return get_object_or_404(Proposal, pk=number[:18])


def _configuration(proposal: Proposal | None) -> Configuration | None:
    if proposal is None:
        return None
    try:
        return proposed_configuration(proposal)
    except DocumentError as error:
        raise NotReady(" ".join(said(problem) for problem in error.problems)) from error


def _caller_type(request: HttpRequest) -> str:
    return request.GET.get("type") or USER_TYPE


def _links() -> dict[tuple[str, str], str]:
    """The pages of endpoints that are served, by method and path."""
    links: dict[tuple[str, str], str] = {}
    # Asked for once: there may be a thousand.
    page = reverse("admin:designer_endpoint_change", args=[0])
    for id, endpoint in latest().endpoints.items():
        if endpoint.definition.enabled:
            link = page.replace("/0/", f"/{id}/")
            links |= {(method, endpoint.path): link for method in endpoint.methods}
    return links

"""“View as”: the API as callers of a type and role see it, from the description that they are given.

It shows the live configuration or, with the number of a proposal in the address, what that would make of it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crmclient.errors import PlatformError
from designer.access_control.access_matrix import types_in_use
from designer.configuration import Configuration
from designer.definitions import CallerTypeDefinition
from designer.documents.problems import DocumentError
from designer.loading import latest
from designer.models import Proposal, Role
from designer.names import USER_TYPE
from designer.platform_failures import failure_words
from designer.ports import NotReady, get_runtime
from designer.proposals.proposed_state import proposed_configuration
from designer.sentences import said
from designer.studio.look import dress
from designer.studio.navigation.row_addresses import row_addresses
from designer.studio.pages.base import StudioPage, StudioView
from designer.studio.sent_numbers import sent_number
from designer.studio.trying.caller_fields import type_field

ANYONE = "anonymous"
# In the address: the number of a proposal.
PROPOSAL = "proposal"
_METHODS = ("get", "post", "patch", "put", "delete")
_PERMISSION = "designer.view_endpoint"


class SeenOperation(NamedTuple):
    """An operation that the callers see. `link` leads to the page of its endpoint.

    It is empty for the operations of the service itself, which no endpoint makes.
    """

    method: str
    path: str
    summary: str
    link: str


class CallersForm(forms.Form):
    """Which callers the API is viewed as: those of a type with all the chosen roles, or anonymous ones.

    The type is asked for where more than one is in use.
    """

    def __init__(self, types: Sequence[CallerTypeDefinition], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if len(types) > 1:
            self.fields["type"] = type_field(types)
        roles = [(role.name, str(role)) for role in Role.objects.all()]
        field = forms.MultipleChoiceField(
            label=gettext_lazy("Roles"),
            choices=[*roles, (ANYONE, gettext_lazy("Anonymous: no token"))],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy(
                "If you choose no role, you see what somebody with a token and no role sees."
            ),
        )
        self.fields["role"] = dress(field)


class ViewAsPage(StudioPage):
    """The operations that callers see, by their tags, with links to the documents that callers get."""

    title = gettext_lazy("View as")
    permission_required = _PERMISSION
    template_name = "designer/pages/view_as.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        chosen = {"role": self.request.GET.getlist("role"), "type": _caller_type(self.request)}
        proposal = _proposal(self.request)
        # Why there is no document: it is still being made, or the platform does not answer.
        not_ready, failed = False, ""
        document: dict[str, Any] = {}
        try:
            document = json.loads(_openapi(self.request, _configuration(proposal)))
        except NotReady:
            not_ready = True
        except PlatformError as error:
            failed = failure_words(error)
        # An endpoint that a proposal adds has no page yet, so the operations of proposals have no links.
        groups = _operations_by_tag(document, _endpoint_links() if proposal is None else {})
        return super().get_context_data(
            form=CallersForm(types_in_use(latest()), initial=chosen),
            groups=groups,
            not_ready=not_ready,
            failed=failed,
            count=sum(len(group) for group in groups.values()),
            query=self.request.GET.urlencode(),
            proposal=proposal,
            **kwargs,
        )


class _DocumentView(StudioView):
    """Answers with a document that describes the API, as a file, as the callers in the address get it."""

    permission_required = _PERMISSION
    http_method_names = ["get"]
    file_name = ""

    def get(self, request: HttpRequest) -> HttpResponse:
        try:
            content = self.content(request, _configuration(_proposal(request)))
        except NotReady as error:
            return _unavailable(str(error))
        except PlatformError as error:
            return _unavailable(failure_words(error))
        answer = HttpResponse(content, content_type="application/json")
        answer["Content-Disposition"] = f'attachment; filename="{self.file_name}"'
        return answer

    def content(self, request: HttpRequest, configuration: Configuration | None) -> bytes:
        """Return the document as JSON. `configuration` is that of a proposal; None: what is live.

        Raises NotReady.
        """
        raise NotImplementedError


class OpenApiDocument(_DocumentView):
    file_name = "openapi.json"

    def content(self, request: HttpRequest, configuration: Configuration | None) -> bytes:
        return _openapi(request, configuration)


class SchemaDocument(_DocumentView):
    file_name = "schema.json"

    def content(self, request: HttpRequest, configuration: Configuration | None) -> bytes:
        return get_runtime().schema(_roles(request), _caller_type(request), configuration)


def _operations_by_tag(
    document: Mapping[str, Any], links: Mapping[tuple[str, str], str]
) -> dict[str, list[SeenOperation]]:
    """Return the operations of an OpenAPI document by their first tag.

    `links` are the addresses of endpoints' pages, by method and path. Tags with an endpoint come before tags
    that only have operations of the service itself.
    """
    groups: defaultdict[str, list[SeenOperation]] = defaultdict(list)
    for path, item in document.get("paths", {}).items():
        for name in _METHODS:
            if name not in item:
                continue
            operation, method = item[name], name.upper()
            tag = next(iter(operation.get("tags", ())), _("Other"))
            link = links.get((method, path), "")
            groups[tag].append(SeenOperation(method, path, operation.get("summary", ""), link))

    def is_of_the_service(tag: str) -> bool:
        return not any(operation.link for operation in groups[tag])

    return {tag: groups[tag] for tag in sorted(groups, key=is_of_the_service)}


def _unavailable(words: str) -> HttpResponse:
    """Return an answer for a document that is not there yet. Status 503, with Retry-After."""
    return HttpResponse(
        words, status=503, content_type="text/plain; charset=utf-8", headers={"Retry-After": "5"}
    )


def _openapi(request: HttpRequest, configuration: Configuration | None) -> bytes:
    return get_runtime().openapi(_roles(request), _caller_type(request), configuration)


def _roles(request: HttpRequest) -> list[str] | None:
    """Return the chosen roles; None for callers without a token."""
    roles = request.GET.getlist("role")
    return None if ANYONE in roles else roles


def _proposal(request: HttpRequest) -> Proposal | None:
    """Return the proposal whose number is in the address; None where the address has none.

    Raises Http404 for one that does not exist, and for accounts that may not see proposals.
    """
    number = request.GET.get(PROPOSAL, "")
    if not number:
        return None
    if not request.user.has_perm("designer.view_proposal"):
        raise Http404
    return get_object_or_404(Proposal, pk=sent_number(number))


def _configuration(proposal: Proposal | None) -> Configuration | None:
    """Return the configuration that the proposal would make live; None, without a proposal, for what is live.

    Raises NotReady for a proposal that cannot be read.
    """
    if proposal is None:
        return None
    try:
        return proposed_configuration(proposal)
    except DocumentError as error:
        raise NotReady(" ".join(said(problem) for problem in error.problems)) from error


def _caller_type(request: HttpRequest) -> str:
    """Return the chosen caller type; users where none is chosen."""
    return request.GET.get("type") or USER_TYPE


def _endpoint_links() -> dict[tuple[str, str], str]:
    """Return the addresses of the studio's pages of enabled endpoints, by method and path of the endpoint."""
    links: dict[tuple[str, str], str] = {}
    address = row_addresses("admin:designer_endpoint_change")
    for id, endpoint in latest().endpoints.items():
        if endpoint.definition.enabled:
            link = address(id)
            links |= {(method, endpoint.path): link for method in endpoint.methods}
    return links

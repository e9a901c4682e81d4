"""“Try it”: a call of an endpoint as somebody else, with what became of every rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from designer.audit.writing import note
from designer.configuration import Configuration, Endpoint
from designer.models import AuditEntry
from designer.models import Endpoint as EndpointRow
from designer.ports import Attempt, Outcome, get_runtime
from designer.studio.trying.try_form import TryForm
from designer.studio.trying.unsaved import UNSAVED, configuration_of

if TYPE_CHECKING:
    from designer.studio.endpoints.admin import EndpointPages

FOR_REAL = "designer.call_for_real"


def try_view(pages: EndpointPages, request: HttpRequest, row: EndpointRow) -> HttpResponse:
    """The endpoint as it is saved or as its page stands, enabled or not."""
    if not pages.has_change_permission(request, row):
        raise PermissionDenied
    configuration = configuration_of(pages, request, row)
    endpoint = configuration.endpoints[row.pk]
    preview = get_runtime().preview(endpoint, f"{request.scheme}://{request.get_host()}")
    sent = {"data": request.POST, "files": request.FILES} if "mode" in request.POST else {}
    form = TryForm(endpoint, preview, may_be_real=request.user.has_perm(FOR_REAL), **sent)
    outcome = None
    if not preview.problem and form.is_bound and form.is_valid():
        outcome = _tried(request, endpoint, configuration, form.attempt())
    context = {
        **pages.admin_site.each_context(request),
        "title": _("Try it"),
        "opts": pages.opts,
        "original": row,
        "unsaved": request.POST.get(UNSAVED, ""),
        "form": form,
        "preview": preview,
        "outcome": outcome,
        "media": pages.media + form.media,
    }
    return TemplateResponse(request, "designer/endpoint/try.html", context)


def _tried(
    request: HttpRequest, endpoint: Endpoint, configuration: Configuration, attempt: Attempt
) -> Outcome:
    outcome = get_runtime().attempt(endpoint, configuration, attempt)
    who = "anonymous" if attempt.anonymous else ", ".join(attempt.roles) or "no role"
    how = "dry run" if attempt.dry else "for real"
    detail = f"{how}; {who}; {attempt.user or ''}; {outcome.status or ''}"
    note(request, AuditEntry.Action.TRY, endpoint.definition.key, detail)
    return outcome

"""“Try it”: a call of an endpoint as somebody else, with what became of every rule."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from designer.access_control.access_matrix import admitted_types
from designer.audit.audit_entries import note
from designer.configuration import Configuration, Endpoint
from designer.models import AuditEntry, TriedCall
from designer.models import Endpoint as EndpointRow
from designer.ports import Attempt, Outcome, get_runtime
from designer.studio.endpoint_form.sharing_words import age_words
from designer.studio.look import ModelAdmin
from designer.studio.trying import tried_calls
from designer.studio.trying.answer_table import AnswerTable, answer_table
from designer.studio.trying.example_form import LONGEST_NAME
from designer.studio.trying.kept_calls import KEEP, KEEP_AS, keep
from designer.studio.trying.try_form import TryForm
from designer.studio.trying.unsaved_page import UNSAVED, configuration_of

# The statuses of answers that a cache keeps, and that of a dry run that would have asked for one.
_KEPT = (0, 200, 204)
FOR_REAL = "designer.call_for_real"
# Fields of a form beside the endpoint's own: the answer is the form, without a page around it; and with the
# second, no call is made: an endpoint that has changed has another form.
DOCKED, REFILL = "_docked", "_refill"


def try_view(pages: ModelAdmin, request: HttpRequest, row: EndpointRow, kept_at: str) -> HttpResponse:
    """The endpoint as it is saved or as its page stands, enabled or not.

    A call can be kept: `kept_at` is the page of its example call.

    A call for real is made once for the token of its form, and answered with the address of its answer.
    """
    if not pages.has_change_permission(request, row):
        raise PermissionDenied
    is_docked = DOCKED in request.POST or DOCKED in request.GET
    call = _shown_call(request, row)
    values = request.POST if call is None else tried_calls.values_of(call)
    configuration = configuration_of(pages, request, row, values)
    endpoint = configuration.endpoints[row.pk]
    preview = get_runtime().preview(endpoint, f"{request.scheme}://{request.get_host()}")
    sent: dict[str, Any] = {}
    if ("mode" in values or KEEP in values) and REFILL not in values:
        sent = {"data": values, "files": request.FILES}
    types = admitted_types(endpoint.definition.access, configuration)
    form = TryForm(endpoint, preview, types, may_be_real=request.user.has_perm(FOR_REAL), **sent)
    if is_docked:
        form.auto_id = "try_%s"
    if REFILL in values:
        form.refill(values)
    outcome = tried_calls.outcome_of(call) if call else None
    if request.method == "POST" and not preview.problem and form.is_bound and form.is_valid():
        attempt = form.attempt()
        if KEEP in request.POST and UNSAVED not in request.POST:
            if kept := keep(request, row, configuration, preview, attempt, kept_at):
                return kept
        elif not attempt.dry:
            response = _call_once(request, row, endpoint, configuration, attempt)
            if response is not None:
                return response
        else:
            outcome = tried(request, endpoint, configuration, attempt)
    if outcome is not None and form.is_bound and form.is_valid():
        form.refuse(outcome)
    context = {
        **pages.admin_site.each_context(request),
        "title": _("Try it"),
        "opts": pages.opts,
        "original": row,
        # Without the query, which may name a call that was made before.
        "action": request.path,
        "unsaved": values.get(UNSAVED, ""),
        "docked": DOCKED if is_docked else "",
        "form": form,
        "table": table_of(outcome),
        "may_keep": UNSAVED not in values and not is_docked,
        "keep": KEEP,
        "keep_as": KEEP_AS,
        "longest_name": LONGEST_NAME,
        "token_field": tried_calls.TOKEN,
        "token": tried_calls.new_token(),
        "tried": call,
        "is_lost": call is not None and tried_calls.is_lost(call),
        "preview": preview,
        "outcome": outcome,
        "age": age_words(endpoint) if outcome is not None and outcome.status in _KEPT else "",
        "media": pages.media + form.media,
    }
    template = "try_panel" if is_docked else "try"
    return TemplateResponse(request, f"designer/endpoint/{template}.html", context)


def table_of(outcome: Outcome | None) -> AnswerTable | None:
    if outcome is None or outcome.status >= HTTPStatus.BAD_REQUEST:
        return None
    return answer_table(outcome.body)


def _shown_call(request: HttpRequest, row: EndpointRow) -> TriedCall | None:
    """The call whose answer is asked for by its address."""
    if request.method == "POST" or tried_calls.TOKEN not in request.GET:
        return None
    if not request.user.has_perm(FOR_REAL):
        raise PermissionDenied
    try:
        return tried_calls.asked_for(request, row)
    except ValueError:
        messages.info(request, _("The answer of this call is not kept any more."))
        return None


def _call_once(
    request: HttpRequest,
    row: EndpointRow,
    endpoint: Endpoint,
    configuration: Configuration,
    attempt: Attempt,
) -> HttpResponse | None:
    """Make the call, unless one with the form's token was made before; None where it has to be sent anew."""
    token = tried_calls.token_of(request.POST)
    if token is None:
        messages.warning(request, _("The call was not made. Press “Call for real” once more."))
        return None
    call = tried_calls.claim(request, row, token)
    if call is not None:
        tried_calls.finish(call, tried(request, endpoint, configuration, attempt))
    else:
        made = tried_calls.find(request, row, token)
        if made is None or not tried_calls.is_same(made, request):
            messages.warning(
                request,
                _(
                    "The call was not made: this form was used for another call. "
                    "Press “Call for real” once more."
                ),
            )
            return None
        messages.info(
            request, _("The call was made once, and not again. Press “Call for real” to repeat it.")
        )
    # 303: whatever is reloaded from here on is the answer.
    docked = f"&{DOCKED}=1" if DOCKED in request.POST else ""
    return HttpResponseRedirect(f"{request.path}?{tried_calls.place_of(token)}{docked}", status=303)


def tried(
    request: HttpRequest, endpoint: Endpoint, configuration: Configuration, attempt: Attempt
) -> Outcome:
    """Make the call, note it in the audit log, and return the outcome."""
    outcome = get_runtime().attempt(endpoint, configuration, attempt)
    who = "anonymous" if attempt.anonymous else ", ".join(attempt.roles) or "no role"
    how = "dry run" if attempt.dry else "for real"
    detail = f"{how}; {who}; {attempt.stands_for}; {outcome.status or ''}"
    note(request, AuditEntry.Action.TRY, endpoint.definition.key, detail)
    return outcome

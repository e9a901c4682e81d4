"""“Try it”: a call of an endpoint as somebody else, with what became of every rule."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from designer.access_control.access_matrix import admitted_types
from designer.audit.audit_entries import note
from designer.configuration import Configuration, Endpoint
from designer.models import AuditEntry, TriedCall
from designer.models import Endpoint as EndpointRow
from designer.ports import Attempt, Outcome, Preview, get_runtime
from designer.studio.checking.previews import service_address
from designer.studio.endpoint_form.sharing_words import age_words
from designer.studio.look import ModelAdmin
from designer.studio.trying import tried_calls
from designer.studio.trying.answer_table import AnswerTable, answer_table
from designer.studio.trying.example_form import LONGEST_NAME
from designer.studio.trying.kept_calls import KEEP, KEEP_AS, keep
from designer.studio.trying.try_form import TryForm
from designer.studio.trying.unsaved_page import UNSAVED, configuration_of

# The statuses of answers that a cache keeps, and 0 for a dry run that would have asked for one.
_CACHED_STATUSES = (0, 200, 204)
FOR_REAL = "designer.call_for_real"
# Fields of a form beside the endpoint's own. With `DOCKED`, the answer is the form without a page around it.
# With `REFILL`, no call is made: the endpoint has changed, and its new form shows what has been typed.
DOCKED, REFILL = "_docked", "_refill"


def try_view(pages: ModelAdmin, request: HttpRequest, row: EndpointRow, example_address: str) -> HttpResponse:
    """Show the form of a call and, once it was sent, the outcome. The endpoint need not be enabled, and is
    called as it is saved or, if its unsaved page was sent along, as that stands.

    A dry run is answered with the page. A call for real is made once for the token of its form, and answered
    with a redirect to the page of its answer. A call can be kept: `example_address` is the page of an example
    call.

    Raises PermissionDenied, and Http404 for an endpoint that the configuration does not have.
    """
    if not pages.has_change_permission(request, row):
        raise PermissionDenied
    # A call that was made before, whose answer the page shows.
    earlier_call = _shown_call(request, row)
    values = request.POST if earlier_call is None else tried_calls.values_of(earlier_call)
    configuration = configuration_of(pages, request, row, values)
    preview = get_runtime().preview(configuration.endpoints[row.pk], service_address(request))
    form = _form_of_call(request, values, configuration.endpoints[row.pk], configuration, preview)
    outcome = None if earlier_call is None else tried_calls.outcome_of(earlier_call)
    if request.method == "POST" and not preview.problem and form.is_bound and form.is_valid():
        result = _do_what_was_asked(request, row, configuration, preview, form.attempt(), example_address)
        if isinstance(result, HttpResponse):
            return result
        outcome = result
    if outcome is not None and form.is_bound and form.is_valid():
        form.show_refusals(outcome)
    context = {
        **pages.admin_site.each_context(request),
        "title": _("Try it"),
        "opts": pages.opts,
        "original": row,
        "unsaved": values.get(UNSAVED, ""),
        "may_keep": UNSAVED not in values and not _is_docked(request),
        "tried": earlier_call,
        "is_lost": earlier_call is not None and tried_calls.is_lost(earlier_call),
        "preview": preview,
        "media": pages.media + form.media,
        **_form_context(request, form),
        **_outcome_context(outcome, configuration.endpoints[row.pk]),
    }
    template = "try_panel" if _is_docked(request) else "try"
    return TemplateResponse(request, f"designer/endpoint/{template}.html", context)


def _do_what_was_asked(
    request: HttpRequest,
    row: EndpointRow,
    configuration: Configuration,
    preview: Preview,
    attempt: Attempt,
    example_address: str,
) -> HttpResponse | Outcome | None:
    """Keep the call, or make it for real or as a dry run, by the button that was pressed.

    Return the redirect that follows, or the outcome of a dry run. Return None when the page is to be shown
    again, with a message or an error in the form.
    """
    endpoint = configuration.endpoints[row.pk]
    if KEEP in request.POST and UNSAVED not in request.POST:
        return keep(request, row, configuration, preview, attempt, example_address)
    if attempt.dry:
        return make_call(request, endpoint, configuration, attempt)
    return _call_once(request, row, endpoint, configuration, attempt)


def _form_context(request: HttpRequest, form: TryForm) -> dict[str, Any]:
    """Return what the templates need to show the form and its buttons."""
    return {
        # Without the query, which may name a call that was made before.
        "action": request.path,
        "docked": DOCKED if _is_docked(request) else "",
        "form": form,
        "keep": KEEP,
        "keep_as": KEEP_AS,
        "longest_name": LONGEST_NAME,
        "token_field": tried_calls.TOKEN,
        "token": tried_calls.new_token(),
    }


def _outcome_context(outcome: Outcome | None, endpoint: Endpoint) -> dict[str, Any]:
    """Return what the templates need to show the outcome of a call, if there is one."""
    may_be_cached = outcome is not None and outcome.status in _CACHED_STATUSES
    return {
        "outcome": outcome,
        "table": table_of(outcome),
        "age": age_words(endpoint) if may_be_cached else "",
    }


def _form_of_call(
    request: HttpRequest,
    values: QueryDict,
    endpoint: Endpoint,
    configuration: Configuration,
    preview: Preview,
) -> TryForm:
    """Return the form of a call. It is bound if a button of the call was pressed to send `values`."""
    is_sent = ("mode" in values or KEEP in values) and REFILL not in values
    form = TryForm(
        endpoint,
        preview,
        admitted_types(endpoint.definition.access, configuration),
        may_be_real=request.user.has_perm(FOR_REAL),
        data=values if is_sent else None,
        files=request.FILES if is_sent else None,
    )
    if _is_docked(request):
        # The form of the endpoint's page stands beside it: two fields of one id would be confused.
        form.auto_id = "try_%s"
    if REFILL in values:
        form.refill(values)
    return form


def _is_docked(request: HttpRequest) -> bool:
    """Whether the form stands beside the endpoint's page, without a page of its own."""
    return DOCKED in request.POST or DOCKED in request.GET


def table_of(outcome: Outcome | None) -> AnswerTable | None:
    """Return the records of an answer as a table; None for no answer, a refusal, or one without records."""
    if outcome is None or outcome.status >= HTTPStatus.BAD_REQUEST:
        return None
    return answer_table(outcome.body)


def _shown_call(request: HttpRequest, row: EndpointRow) -> TriedCall | None:
    """Return the call for real whose answer the address asks for; None where it asks for none.

    Raises PermissionDenied: the answer has records that were read for real.
    """
    if request.method == "POST" or tried_calls.TOKEN not in request.GET:
        return None
    if not request.user.has_perm(FOR_REAL):
        raise PermissionDenied
    try:
        return tried_calls.call_in_address(request, row)
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
    """Make the call, unless the form's token was used before. Return a redirect to the page of its answer.

    Return None, with a message, when the form has to be sent once more.
    """
    token = tried_calls.token_of(request.POST)
    if token is None:
        messages.warning(request, _("The call was not made. Press “Call for real” once more."))
        return None
    claimed_call = tried_calls.claim(request, row, token)
    earlier_call = None if claimed_call is not None else tried_calls.find(request, row, token)
    if claimed_call is not None:
        tried_calls.finish(claimed_call, make_call(request, endpoint, configuration, attempt))
    elif earlier_call is not None and tried_calls.has_same_form(earlier_call, request):
        messages.info(
            request, _("The call was made once, and not again. Press “Call for real” to repeat it.")
        )
    else:
        messages.warning(
            request,
            _("The call was not made: this form was used for another call. Press “Call for real” once more."),
        )
        return None
    # 303: the browser reads the answer by GET, and reloading it makes no call.
    docked = f"&{DOCKED}=1" if DOCKED in request.POST else ""
    return HttpResponseRedirect(f"{request.path}?{tried_calls.query_string_of(token)}{docked}", status=303)


def make_call(
    request: HttpRequest, endpoint: Endpoint, configuration: Configuration, attempt: Attempt
) -> Outcome:
    """Make the call, note it in the audit log, and return the outcome."""
    outcome = get_runtime().attempt(endpoint, configuration, attempt)
    who = "anonymous" if attempt.anonymous else ", ".join(attempt.roles) or "no role"
    how = "dry run" if attempt.dry else "for real"
    detail = "; ".join(filter(None, [how, who, attempt.stands_for, str(outcome.status or "")]))
    note(request, AuditEntry.Action.TRY, endpoint.definition.key, detail)
    return outcome

"""“Example calls”: those of an endpoint, what they are answered now, and what each should be answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from designer.audit.audit_entries import note
from designer.configuration import Endpoint
from designer.definitions import ExampleCallDefinition
from designer.example_calls.call_runs import CallResult, run_of
from designer.example_calls.kept_examples import OtherExamples, missing, remove, replace, state_of
from designer.loading import latest
from designer.models import AuditEntry
from designer.models import Endpoint as EndpointRow
from designer.sentences import said
from designer.studio.look import ModelAdmin
from designer.studio.trying.example_form import ExampleForm
from designer.studio.trying.kept_calls import NAME, change_row
from designer.studio.trying.try_page import FOR_REAL

# The names of two buttons: one makes all example calls, the other removes one.
_RUN, _REMOVE = "_run", "_remove"
# The field with the state of the example call that the page was opened with.
_SEEN = "_seen"
# What an example call knows beside what the caller sends.
_NOT_SENT = frozenset({"name", "status", "shape", "values", "refused_for", "roles", "anonymous"})


def examples_view(
    pages: ModelAdmin, request: HttpRequest, row: EndpointRow, edit_address: str
) -> HttpResponse:
    """Show the example calls of an endpoint and, if the button for that was pressed, make all of them.

    `edit_address` is the address of the page that changes one.
    """
    endpoint = _saved_endpoint(pages, request, row)
    results: dict[str, CallResult] = {}
    if request.method == "POST" and _RUN in request.POST:
        results = {result.name: result for result in run_of(endpoint, latest())}
        failed = sum(result.failed for result in results.values())
        detail = f"example calls: {len(results)} made, {failed} failed"
        note(request, AuditEntry.Action.TRY, endpoint.definition.key, detail)
    calls = [
        {
            "definition": call,
            "who": caller_words(call),
            "result": results.get(call.name),
            "url": f"{edit_address}?{urlencode({NAME: call.name})}",
        }
        for call in endpoint.definition.example_calls
    ]
    context = {
        **_admin_context(pages, request, row),
        "title": _("Example calls"),
        "calls": calls,
        "run": _RUN,
    }
    return TemplateResponse(request, "designer/endpoint/example_calls.html", context)


def example_view(
    pages: ModelAdmin, request: HttpRequest, row: EndpointRow, list_address: str
) -> HttpResponse:
    """Show one example call, or change or remove it. `list_address` is the address of the list of all."""
    name, is_sent = request.GET.get(NAME, ""), request.method == "POST"
    calls = _calls_by_name(pages, request, row)
    if name not in calls and not is_sent:
        raise Http404
    seen = request.POST.get(_SEEN, "") if is_sent else state_of(calls[name])
    try:
        if is_sent and (redirect := _change(request, row, calls, name, list_address)):
            return redirect
    except OtherExamples as conflict:
        messages.error(request, said(str(conflict)))
        # What was typed is shown again, over what is stored now.
        calls = _calls_by_name(pages, request, row)
        if name not in calls:
            return HttpResponseRedirect(list_address)
        seen = state_of(calls[name])
    form = _form(request, calls, name)
    context = {
        **_admin_context(pages, request, row),
        "title": name,
        "call": calls[name],
        "who": caller_words(calls[name]),
        "sent": _sent_as_json(calls[name]),
        "form": form,
        "listed": list_address,
        "remove": _REMOVE,
        "seen": seen,
        "media": pages.media + form.media,
    }
    return TemplateResponse(request, "designer/endpoint/example_call.html", context)


def _change(
    request: HttpRequest,
    row: EndpointRow,
    calls: Mapping[str, ExampleCallDefinition],
    name: str,
    list_address: str,
) -> HttpResponseRedirect | None:
    """Save or remove the example call, as the button says. Return a redirect; None to show the form again.

    Raises OtherExamples when somebody else has changed the example call since the page was opened.
    """
    seen = request.POST.get(_SEEN, "")
    if _REMOVE in request.POST:
        message = _("The example call was removed.")
        redirect = change_row(request, row, lambda fresh: remove(fresh, name, seen), message, list_address)
        # When it was refused, the list shows why.
        return redirect or HttpResponseRedirect(list_address)
    if name not in calls:
        raise missing(name)
    form = _form(request, calls, name)
    if not form.is_valid():
        return None
    message, changed = _("The example call was saved."), form.changed_example()
    # When it was refused, the form is shown again, with messages that say why.
    return change_row(request, row, lambda fresh: replace(fresh, name, changed, seen), message, list_address)


def _form(request: HttpRequest, calls: Mapping[str, ExampleCallDefinition], name: str) -> ExampleForm:
    """Return the form of the example call called `name`, with what was sent."""
    return ExampleForm(
        calls[name],
        data=request.POST if request.method == "POST" else None,
        names_in_use=frozenset(calls) - {name},
        asks_values=request.user.has_perm(FOR_REAL),
    )


def _calls_by_name(
    pages: ModelAdmin, request: HttpRequest, row: EndpointRow
) -> Mapping[str, ExampleCallDefinition]:
    """Return the example calls of the saved endpoint. Raises PermissionDenied and Http404."""
    endpoint = _saved_endpoint(pages, request, row)
    return {call.name: call for call in endpoint.definition.example_calls}


def caller_words(call: ExampleCallDefinition) -> str:
    """Describe the caller of an example call in words."""
    if call.anonymous:
        return _("Anonymous")
    return ", ".join(call.roles) or _("no role")


def _sent_as_json(call: ExampleCallDefinition) -> str:
    """Return what the caller sends, as JSON for people."""
    sent = {name: value for name, value in call.to_json().items() if name not in _NOT_SENT}
    return json.dumps(sent, ensure_ascii=False, indent=2)


def _saved_endpoint(pages: ModelAdmin, request: HttpRequest, row: EndpointRow) -> Endpoint:
    """Return the endpoint as it is saved. Raises PermissionDenied; Http404 for one that cannot be read."""
    if not pages.has_change_permission(request, row):
        raise PermissionDenied
    endpoint = latest().endpoints.get(row.pk)
    if endpoint is None or endpoint.problem is not None:
        raise Http404
    return endpoint


def _admin_context(pages: ModelAdmin, request: HttpRequest, row: EndpointRow) -> dict[str, Any]:
    """Return what the templates of both pages need of the admin."""
    site = pages.admin_site.each_context(request)
    return {**site, "opts": pages.opts, "original": row, "media": pages.media}

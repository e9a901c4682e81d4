"""“Run”: the first records of a query or a data fetcher as its page stands, as they are for a chosen user."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from designer.access_control.access_matrix import admitted_types
from designer.audit.audit_entries import note
from designer.configuration import Configuration, Endpoint
from designer.definitions.row_rules import roles_of
from designer.models import AuditEntry
from designer.models import Endpoint as EndpointRow
from designer.ports import Attempt, Outcome, Preview, get_runtime
from designer.studio.look import ModelAdmin, dress
from designer.studio.trying.answer_table import answer_table
from designer.studio.trying.call_fields import field_name, filled_values, form_field
from designer.studio.trying.caller_fields import CallerForm
from designer.studio.trying.fetcher_runs import NotRunnable, query_of
from designer.studio.trying.query_costs import costs_of
from designer.studio.trying.try_page import FOR_REAL
from designer.studio.trying.unsaved_page import configuration_of

MOST_ROWS = 20
_PAGE_SIZE = "pageSize"
_SUBMITTED = "run"
_FETCHER = "_fetcher"
_FORM = "run-form"


class RunForm(CallerForm):
    """For whom the query runs, and the values of its parameters.

    It is shown amid the endpoint's own form: its fields belong to another one, whose id is `run-form`.
    """

    def __init__(
        self, endpoint: Endpoint, configuration: Configuration, preview: Preview, **kwargs: Any
    ) -> None:
        types = admitted_types(endpoint.definition.access, configuration)
        super().__init__(types, auto_id="run_%s", **kwargs)
        self._fields = [call_field for call_field in preview.fields if call_field.type]
        paged = next(
            (call_field.schema for call_field in preview.fields if call_field.name == _PAGE_SIZE), None
        )
        # What one page may have; none where there are no pages.
        largest = MOST_ROWS if paged is None else min(MOST_ROWS, paged.get("maximum", MOST_ROWS))
        self._page = {} if paged is None else {_PAGE_SIZE: str(largest)}
        self.ask_who()
        self._named = _roles_in_row_rules(endpoint)
        if self._named:
            self.fields["roles"] = dress(_roles_field(sorted(self._named), endpoint))
        for call_field in self._fields:
            self.fields[field_name(call_field)] = form_field(call_field)
        for field in self.fields.values():
            field.widget.attrs["form"] = _FORM

    def attempt(self, endpoint: Endpoint) -> Attempt:
        """Return the call that the form describes, made as somebody who may call `endpoint`: who may is not
        in question here.
        """
        access = endpoint.definition.access
        record = self.caller_record
        # Roles that no row rule names make no difference but to who may call.
        unlisted_roles = [name for name in access.roles if name not in self._named]
        roles = (*self.cleaned_data.get("roles", ()), *unlisted_roles)
        is_known = record is not None or bool(roles) or bool(self.claims)
        stands_for_nobody = self.caller_type.is_of_users and not is_known
        query = filled_values(self._fields, "query", self.cleaned_data)
        return Attempt(
            roles=roles,
            caller_type=self.caller_type.name,
            caller_record=record,
            claims=self.claims,
            anonymous=stands_for_nobody and not access.authentication_required,
            query=query | self._page,
            dry=False,
        )


def _roles_in_row_rules(endpoint: Endpoint) -> frozenset[str]:
    """Return the roles that the row rules of the exposed entities name."""
    return frozenset().union(*(roles_of(exposed.row_rule) for exposed in endpoint.exposures))


def _roles_field(role_names: Iterable[str], endpoint: Endpoint) -> forms.Field:
    return forms.MultipleChoiceField(
        label=_("Roles"),
        required=False,
        choices=[(name, name) for name in role_names],
        initial=[name for name in endpoint.definition.access.roles if name in role_names],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Row rules have entries by role."),
    )


def may_run(request: HttpRequest, row: EndpointRow) -> bool:
    return row.operation is not None and request.user.has_perm(FOR_REAL)


def run_view(pages: ModelAdmin, request: HttpRequest, row: EndpointRow) -> HttpResponse:
    """A fragment for `run.js`: the form and, where it was filled in, what came of it.

    It is the endpoint's own query that runs or, where the request names one, that of a data fetcher.
    """
    if not pages.has_change_permission(request, row) or not may_run(request, row):
        raise PermissionDenied
    configuration = configuration_of(pages, request, row, request.POST)
    try:
        endpoint = _of_first_rows(_chosen(configuration.endpoints[row.pk], request.POST.get(_FETCHER)))
    except NotRunnable as reason:
        return _fragment(request, {"preview": Preview(problem=str(reason))})
    preview = get_runtime().preview(endpoint, "")
    form = RunForm(
        endpoint, configuration, preview, **({"data": request.POST} if _SUBMITTED in request.POST else {})
    )
    context: dict[str, Any] = {"preview": preview, "form": form}
    if not preview.problem and form.is_bound and form.is_valid():
        attempt = form.attempt(endpoint)
        outcome = get_runtime().attempt(endpoint, configuration, attempt)
        detail = f"{attempt.stands_for}; {outcome.status}"
        note(request, AuditEntry.Action.RUN, endpoint.definition.key, detail)
        context |= {"outcome": outcome, "costs": costs_of(endpoint), **_answer_context(outcome)}
    return _fragment(request, context)


def _chosen(endpoint: Endpoint, fetcher: str | None) -> Endpoint:
    """Raises NotRunnable, and Http404 for an endpoint that asks nothing itself."""
    if fetcher is not None:
        return query_of(endpoint, fetcher)
    if not endpoint.definition.settings.asks_query:
        raise Http404
    return endpoint


def _fragment(request: HttpRequest, context: Mapping[str, Any]) -> HttpResponse:
    return TemplateResponse(request, "designer/endpoint/run.html", dict(context))


def _of_first_rows(endpoint: Endpoint) -> Endpoint:
    """A list that callers get whole, or not at all, is shown from its beginning."""
    cut = endpoint.definition.settings.first_rows(MOST_ROWS)
    return replace(endpoint, definition=endpoint.definition.model_copy(update={"settings": cut}))


def _answer_context(outcome: Outcome) -> dict[str, Any]:
    """Return the answer as a table, or `problems` that say why there is none."""
    table = answer_table(outcome.body or "[]", MOST_ROWS) if outcome.status < HTTPStatus.BAD_REQUEST else None
    if table is not None:
        return {"columns": table.columns, "rows": table.rows, "total": table.total}
    try:
        answer: Any = json.loads(outcome.body)
    except ValueError:
        return {"problems": [outcome.body]}
    if outcome.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # Callers are told no reason. The last step names it, in the platform's own words.
        return {"problems": [outcome.steps[-1].detail]}
    wrong = [f"{error.get('parameter', '')}: {error['message']}" for error in answer.get("errors", ())]
    return {"problems": [answer.get("detail") or answer.get("title"), *wrong]}

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
from designer.studio.trying.fetcher_runs import NotRunnable, endpoint_of_fetcher
from designer.studio.trying.query_costs import costs_of
from designer.studio.trying.try_page import FOR_REAL
from designer.studio.trying.unsaved_page import configuration_of

MOST_ROWS = 20
_PAGE_SIZE = "pageSize"
# Fields that `run.js` sends beside those of the page: that the form was filled in, and the data fetcher.
_SUBMITTED, _FETCHER = "run", "_fetcher"
_FORM_ID = "run-form"


class RunForm(CallerForm):
    """The form that asks for whom the query runs, and for the values of its parameters.

    It is shown amid the endpoint's own form: its fields belong to another one, whose id is `run-form`.
    """

    def __init__(
        self, endpoint: Endpoint, configuration: Configuration, preview: Preview, **kwargs: Any
    ) -> None:
        types = admitted_types(endpoint.definition.access, configuration)
        super().__init__(types, auto_id="run_%s", **kwargs)
        self.add_caller_fields()
        self._roles_in_rules = _roles_in_row_rules(endpoint)
        if self._roles_in_rules:
            self.fields["roles"] = dress(_roles_field(sorted(self._roles_in_rules), endpoint))
        # What a call takes beside its inputs and parameters, such as the size of a page, has no input type.
        self._call_fields = [call_field for call_field in preview.fields if call_field.type]
        for call_field in self._call_fields:
            self.fields[field_name(call_field)] = form_field(call_field)
        self._page_size = _page_size(preview)
        for field in self.fields.values():
            field.widget.attrs["form"] = _FORM_ID

    def attempt(self, endpoint: Endpoint) -> Attempt:
        """Return the call that the form describes. The caller has every role that the form does not ask for,
        so that the endpoint's access never refuses it.
        """
        access = endpoint.definition.access
        record = self.caller_record
        # Roles that no row rule names only decide who may call: the form does not ask for them.
        unlisted_roles = [name for name in access.roles if name not in self._roles_in_rules]
        roles = (*self.cleaned_data.get("roles", ()), *unlisted_roles)
        is_known = record is not None or bool(roles) or bool(self.claims)
        # Nothing was said of a user: the call is an anonymous one where the endpoint admits these.
        is_unspecified_user = self.caller_type.is_of_users and not is_known
        query = filled_values(self._call_fields, "query", self.cleaned_data)
        return Attempt(
            roles=roles,
            caller_type=self.caller_type.name,
            caller_record=record,
            claims=self.claims,
            anonymous=is_unspecified_user and not access.authentication_required,
            query=query | self._page_size,
            dry=False,
        )


def _page_size(preview: Preview) -> dict[str, str]:
    """Return the query parameter that asks for `MOST_ROWS` rows, or for the largest page if that is smaller.

    Empty for an endpoint without pages.
    """
    for call_field in preview.fields:
        if call_field.name == _PAGE_SIZE:
            return {_PAGE_SIZE: str(min(MOST_ROWS, call_field.schema.get("maximum", MOST_ROWS)))}
    return {}


def _roles_in_row_rules(endpoint: Endpoint) -> frozenset[str]:
    """Return the roles that the row rules of the exposed entities name."""
    return frozenset().union(*(roles_of(exposed.row_rule) for exposed in endpoint.exposures))


def _roles_field(role_names: Iterable[str], endpoint: Endpoint) -> forms.Field:
    """Return a field to tick some of `role_names`. Those that may call `endpoint` are ticked at first."""
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
    """Return a fragment for `run.js`: the form and, if it was filled in, the outcome of running the query.

    The query is the endpoint's own or, if the request names a data fetcher, the data fetcher's.

    Raises PermissionDenied, and Http404 for an endpoint without a query.
    """
    if not pages.has_change_permission(request, row) or not may_run(request, row):
        raise PermissionDenied
    configuration = configuration_of(pages, request, row, request.POST)
    try:
        endpoint_of_query = _with_chosen_query(configuration.endpoints[row.pk], request.POST.get(_FETCHER))
    except NotRunnable as reason:
        return _fragment(request, {"preview": Preview(problem=str(reason))})
    endpoint = _with_first_rows_only(endpoint_of_query)
    # The service's address is for the command line of a preview, which is not shown here.
    preview = get_runtime().preview(endpoint, base="")
    data = request.POST if _SUBMITTED in request.POST else None
    form = RunForm(endpoint, configuration, preview, data=data)
    context: dict[str, Any] = {"preview": preview, "form": form}
    if not preview.problem and form.is_bound and form.is_valid():
        attempt = form.attempt(endpoint)
        outcome = get_runtime().attempt(endpoint, configuration, attempt)
        detail = "; ".join(filter(None, [attempt.stands_for, str(outcome.status or "")]))
        note(request, AuditEntry.Action.RUN, endpoint.definition.key, detail)
        context |= {"outcome": outcome, "costs": costs_of(endpoint), **_answer_context(outcome)}
    return _fragment(request, context)


def _with_chosen_query(endpoint: Endpoint, fetcher: str | None) -> Endpoint:
    """Return an endpoint that runs the data fetcher's query; without a name, the endpoint's own query.

    Raises NotRunnable, and Http404 for an endpoint that asks nothing itself.
    """
    if fetcher is not None:
        return endpoint_of_fetcher(endpoint, fetcher)
    if not endpoint.definition.settings.asks_query:
        raise Http404
    return endpoint


def _fragment(request: HttpRequest, context: Mapping[str, Any]) -> HttpResponse:
    """Return the part of the page that `run.js` puts into the endpoint's page."""
    return TemplateResponse(request, "designer/endpoint/run.html", dict(context))


def _with_first_rows_only(endpoint: Endpoint) -> Endpoint:
    """Return the endpoint with a query of at most `MOST_ROWS` rows.

    Callers of a list without pages get it whole, or an error if it is too long. Here its beginning is enough.
    """
    settings = endpoint.definition.settings.first_rows(MOST_ROWS)
    return replace(endpoint, definition=endpoint.definition.model_copy(update={"settings": settings}))


def _answer_context(outcome: Outcome) -> dict[str, Any]:
    """Return the answer as a table, or `problems` that say why there is none, for the template."""
    # An answer without a body, such as 204, has no records.
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

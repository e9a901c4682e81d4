"""*What may this caller do?*: every endpoint for an account, an API key, a record or a pasted token.

The token is not kept, not logged, and not written into the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from crmclient.errors import PlatformError
from designer.access_control.caller_rights import CallerFacts, EndpointRights, rights_of
from designer.audit import note
from designer.definitions import CallerTypeDefinition
from designer.loading import latest
from designer.models import AuditEntry, Role
from designer.platform_failures import failure_words
from designer.ports import CallerSource, KnownCaller, get_runtime
from designer.sentences import said
from designer.studio.identity.token_explanation_page import NoToken, pasted_token
from designer.studio.look import dress
from designer.studio.navigation.request_overview import overview_for
from designer.studio.navigation.row_addresses import row_addresses
from designer.studio.pages.base import StudioPage
from designer.studio.pages.csv_cells import csv_file
from designer.studio.pages.matrix_rules import MatrixRules
from designer.studio.sent_numbers import sent_number
from designer.studio.trying.caller_fields import CallerForm

# Where callers are chosen from by name, with the permission to see them there.
_NAME_SOURCES: tuple[tuple[CallerSource, str], ...] = (
    ("account", "runtime.view_apiaccount"),
    ("key", "runtime.view_apikey"),
)
# The permission to paste a token, and to choose a record. *Explain a token* has the same one.
_MAY_USE_TOKENS = "designer.change_issuer"
_MOST_SUGGESTED = 200


class ShownRights(NamedTuple):
    """An endpoint of the list, with a `link` to its page. `why_not` is empty where the caller may call it.

    `records` says what the caller reaches, an item for each row rule entry.
    """

    rights: EndpointRights
    link: str
    why_not: str
    records: Sequence[str]


class RecordForm(CallerForm):
    """The form for a caller who is chosen by its record, with the roles that a token would add."""

    def __init__(self, types: Sequence[CallerTypeDefinition], **kwargs: Any) -> None:
        super().__init__(types, **kwargs)
        self.add_caller_fields()
        # Roles by claims are ticked instead.
        self.fields.pop("claims", None)
        for name in self.fields:
            # The help texts speak of calls, also of calls without a record. This page needs a record.
            self.fields[name].help_text = ""
        self.fields["roles"] = dress(
            forms.MultipleChoiceField(
                label=gettext_lazy("Roles by claims"),
                required=False,
                choices=[(role.name, str(role)) for role in Role.objects.all()],
                widget=forms.CheckboxSelectMultiple,
                help_text=gettext_lazy(
                    "Tick the roles that the caller's token would bring. The page finds the "
                    "caller's other roles by itself."
                ),
            )
        )


@method_decorator((never_cache, sensitive_post_parameters("token")), name="dispatch")
class CallerRightsPage(StudioPage):
    title = gettext_lazy("What may this caller do?")
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/caller_rights.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the rights of the caller whose name the address has, or only the ways to choose a caller."""
        for source, permission in _NAME_SOURCES:
            if name := request.GET.get(source, "").strip():
                if not request.user.has_perm(permission):
                    raise PermissionDenied
                return self._page_for_name(request, source, name)
        return self.render_to_response(self.get_context_data())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Show the rights of the caller of a pasted token, or of a chosen record."""
        if not request.user.has_perm(_MAY_USE_TOKENS):
            raise PermissionDenied
        return self._page_for_token(request) if "token" in request.POST else self._page_for_record(request)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the names that are suggested by source, and the form for records, as far as the account may see
        them.
        """
        user, runtime = self.request.user, get_runtime()
        suggested_names = {
            source: runtime.caller_names(source, _MOST_SUGGESTED)
            for source, permission in _NAME_SOURCES
            if user.has_perm(permission)
        }
        may_paste = user.has_perm(_MAY_USE_TOKENS)
        if may_paste and "form" not in kwargs:
            kwargs["form"] = RecordForm(_types_with_records())
        return super().get_context_data(offered=suggested_names, may_paste=may_paste, **kwargs)

    def _page_for_name(self, request: HttpRequest, source: CallerSource, name: str) -> HttpResponse:
        """Show the rights of the API account or API key of that name. With `csv`, return them as a file."""
        caller = get_runtime().caller_named(source, name, latest())
        if caller is None:
            unknown = _UNKNOWN_NAME[source] % {"name": name}
            return self.render_to_response(self.get_context_data(problems=[unknown]), status=404)
        if "csv" in request.GET:
            return self._csv_file(caller)
        return self.render_to_response(
            self.get_context_data(callers=[caller], **self._rights_context(caller))
        )

    def _page_for_token(self, request: HttpRequest) -> HttpResponseBase:
        """Show the rights of the caller of the pasted token."""
        try:
            explained = get_runtime().explain_token(pasted_token(request), latest())
        except NoToken as problem:
            return self.show_again(problems=[problem.why])
        note(request, AuditEntry.Action.RUN, "what a caller may do", f"token {explained.issuer}".strip())
        caller = explained.caller
        if caller is None:
            unknown = _("The token does not say who the caller is. “Explain a token” says which check fails.")
            return self.show_again(problems=[unknown], explains=reverse("studio:explain_token"))
        return self.render_to_response(
            self.get_context_data(callers=[caller], **self._rights_context(caller))
        )

    def _page_for_record(self, request: HttpRequest) -> HttpResponseBase:
        """Show the rights of a caller that stands for the record in the form. Where several callers do, the
        page has a button for each, whose value `as` is the caller's position.
        """
        form = RecordForm(_types_with_records(), data=request.POST)
        if not form.is_valid():
            return self.show_again(form=form)
        record, type = form.caller_record, form.caller_type
        if record is None:
            return self.show_again(form=form, problems=[_("Choose a record.")])
        note(request, AuditEntry.Action.RUN, "what a caller may do", f"{type.name} {record}")
        try:
            callers = get_runtime().callers_of_record(type.name, record, latest())
        except PlatformError as error:
            return self.show_again(form=form, problems=[failure_words(error)])
        if not callers:
            nobody = _(
                "Nobody calls as this record: no API account and no API key has it, and no enabled issuer "
                "finds records of the type %(type)s."
            ) % {"type": type.name}
            return self.show_again(form=form, problems=[nobody])
        ticked_roles = form.cleaned_data["roles"]
        callers = [replace(caller, roles=tuple(sorted({*caller.roles, *ticked_roles}))) for caller in callers]
        # There may be fewer callers than when the buttons were made.
        index = min(sent_number(request.POST.get("as", "")) or 0, len(callers) - 1)
        caller = callers[index]
        return self.render_to_response(
            self.get_context_data(
                form=form, callers=callers, sent=_sent_values(request), **self._rights_context(caller)
            )
        )

    def _rights_context(self, caller: KnownCaller) -> dict[str, Any]:
        """Return for the template what `caller` may call and may not, and the query string for the file."""
        rights_list = list(self._rights_of(caller))
        return {
            "caller": caller,
            "may": [shown for shown in rights_list if shown.rights.may_call],
            "may_not": [shown for shown in rights_list if not shown.rights.may_call],
            "query": self.request.GET.urlencode() if self.request.method == "GET" else "",
        }

    def _rights_of(self, caller: KnownCaller) -> Iterator[ShownRights]:
        """Yield the rights of the caller at each endpoint."""
        overview = overview_for(self.request)
        facts = CallerFacts(frozenset(caller.roles), caller.type)
        rights = rights_of(facts, overview.configuration, overview.states)
        return shown_rights(rights, MatrixRules(overview, ()))

    def _csv_file(self, caller: KnownCaller) -> HttpResponse:
        return csv_file("caller-rights.csv", _csv_rows(self._rights_of(caller)))


# What the page says of a name that is not there, by source.
_UNKNOWN_NAME = {
    "account": gettext_lazy("There is no API account “%(name)s”. Choose one of those that are suggested."),
    "key": gettext_lazy("There is no API key “%(name)s”. Choose one of those that are suggested."),
}


def _csv_rows(rights_list: Iterable[ShownRights]) -> Iterator[list[str]]:
    """Yield the header of the CSV file, and a row for each endpoint."""
    yield ["method", "path", "may call", "why not", "records"]
    for shown in rights_list:
        endpoint = shown.rights.endpoint
        may = "yes" if shown.rights.may_call else ""
        yield [
            ", ".join(endpoint.methods),
            endpoint.path,
            may,
            shown.why_not,
            "; ".join(shown.records),
        ]


def shown_rights(rights: Iterable[EndpointRights], rules: MatrixRules) -> Iterator[ShownRights]:
    """Yield each right with a link to its endpoint, and with the records that the caller reaches there."""
    address = row_addresses("admin:designer_endpoint_change")
    for right in rights:
        records = rules.records_reached(right) if right.may_call else []
        yield ShownRights(right, address(right.id), said(right.why_not), records)


def _types_with_records() -> tuple[CallerTypeDefinition, ...]:
    """Return the caller types whose callers can have a record. Users have one without naming an entity."""
    return tuple(type for type in latest().caller_types if type.entity or type.is_of_users)


def _sent_values(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the values that the form was sent with, for the buttons that choose another caller of the
    record.
    """
    left_out = ("csrfmiddlewaretoken", "as", "token")
    return [
        (name, value) for name, values in request.POST.lists() for value in values if name not in left_out
    ]

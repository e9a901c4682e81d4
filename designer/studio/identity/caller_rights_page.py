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
from designer.ports import CallerSource, KnownCaller, get_runtime
from designer.sentences import said
from designer.studio.identity.token_explanation_page import NoToken, pasted_token
from designer.studio.look import dress
from designer.studio.navigation.request_overview import seen_by
from designer.studio.pages.base import StudioPage
from designer.studio.pages.csv_cells import csv_file
from designer.studio.pages.matrix_rules import MatrixRules
from designer.studio.trying.caller_fields import CallerForm

# Who callers are, is told to those who may see it.
_SOURCES: tuple[tuple[CallerSource, str], ...] = (
    ("account", "runtime.view_apiaccount"),
    ("key", "runtime.view_apikey"),
)
# As of *Explain a token*.
_TOKENS = "designer.change_issuer"
_SUGGESTED = 200


class ShownRights(NamedTuple):
    """An endpoint of the list. `records` says what the caller reaches, an item for each row rule entry."""

    rights: EndpointRights
    link: str
    why_not: str
    records: Sequence[str]


class RecordForm(CallerForm):
    """The form for a caller who is chosen by its record, with the roles that a token would add."""

    def __init__(self, types: Sequence[CallerTypeDefinition], **kwargs: Any) -> None:
        super().__init__(types, **kwargs)
        self.ask_who()
        self.fields.pop("claims", None)
        for name in self.fields:
            # What a call without a record would mean is no question here.
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
        for source, permission in _SOURCES:
            name = request.GET.get(source, "").strip()
            if not name:
                continue
            if not request.user.has_perm(permission):
                raise PermissionDenied
            caller = get_runtime().caller_named(source, name, latest())
            if caller is None:
                words = _NONE[source] % {"name": name}
                context = self.get_context_data(problems=[words])
                return self.render_to_response(context, status=404)
            if "csv" in request.GET:
                return self._file(caller)
            return self.render_to_response(self.get_context_data(callers=[caller], **self._list(caller)))
        return self.render_to_response(self.get_context_data())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not request.user.has_perm(_TOKENS):
            raise PermissionDenied
        return self._of_token(request) if "token" in request.POST else self._of_record(request)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user, runtime = self.request.user, get_runtime()
        offered = {
            source: runtime.caller_names(source, _SUGGESTED)
            for source, permission in _SOURCES
            if user.has_perm(permission)
        }
        may_paste = user.has_perm(_TOKENS)
        if may_paste and "form" not in kwargs:
            kwargs["form"] = RecordForm(_types_with_records())
        return super().get_context_data(offered=offered, may_paste=may_paste, **kwargs)

    def _of_token(self, request: HttpRequest) -> HttpResponseBase:
        """Show the rights of the caller of the pasted token."""
        try:
            explained = get_runtime().explain_token(pasted_token(request), latest())
        except NoToken as problem:
            return self.again(problems=[problem.why])
        note(request, AuditEntry.Action.RUN, "what a caller may do", f"token {explained.issuer}".strip())
        caller = explained.caller
        if caller is None:
            unknown = _("The token does not say who the caller is. “Explain a token” says which check fails.")
            return self.again(problems=[unknown], explains=reverse("studio:explain_token"))
        return self.render_to_response(self.get_context_data(callers=[caller], **self._list(caller)))

    def _of_record(self, request: HttpRequest) -> HttpResponseBase:
        """Show the rights of a caller that stands for the record in the form, with a choice where there are
        several.
        """
        form = RecordForm(_types_with_records(), data=request.POST)
        if not form.is_valid():
            return self.again(form=form)
        record, type = form.caller_record, form.caller_type
        if record is None:
            return self.again(form=form, problems=[_("Choose a record.")])
        note(request, AuditEntry.Action.RUN, "what a caller may do", f"{type.name} {record}")
        try:
            callers = get_runtime().callers_of_record(type.name, record, latest())
        except PlatformError:
            return self.again(form=form, problems=[_("The platform does not answer. Try again later.")])
        if not callers:
            nobody = _(
                "Nobody calls as this record: no API account and no API key has it, and no enabled issuer "
                "finds records of the type %(type)s."
            ) % {"type": type.name}
            return self.again(form=form, problems=[nobody])
        chosen = form.cleaned_data["roles"]
        callers = [replace(caller, roles=tuple(sorted({*caller.roles, *chosen}))) for caller in callers]
        chosen_index = request.POST.get("as", "")
        caller = callers[
            min(int(chosen_index), len(callers) - 1)
            if chosen_index.isascii() and chosen_index.isdecimal()
            else 0
        ]
        return self.render_to_response(
            self.get_context_data(form=form, callers=callers, sent=_sent(request), **self._list(caller))
        )

    def _list(self, caller: KnownCaller) -> dict[str, Any]:
        shown = list(self._rights_of(caller))
        return {
            "caller": caller,
            "may": [shown_right for shown_right in shown if shown_right.rights.may],
            "may_not": [shown_right for shown_right in shown if not shown_right.rights.may],
            "query": self.request.GET.urlencode() if self.request.method == "GET" else "",
        }

    def _rights_of(self, caller: KnownCaller) -> Iterator[ShownRights]:
        overview = seen_by(self.request)
        facts = CallerFacts(frozenset(caller.roles), caller.type)
        rights = rights_of(facts, overview.configuration, overview.states)
        return shown_rights(rights, MatrixRules(overview, ()))

    def _file(self, caller: KnownCaller) -> HttpResponse:
        return csv_file("caller-rights.csv", _lines(self._rights_of(caller)))


_NONE = {
    "account": gettext_lazy("There is no API account “%(name)s”. Choose one of those that are suggested."),
    "key": gettext_lazy("There is no API key “%(name)s”. Choose one of those that are suggested."),
}


def _lines(shown: Iterable[ShownRights]) -> Iterator[list[str]]:
    yield ["method", "path", "may call", "why not", "records"]
    for shown_right in shown:
        endpoint = shown_right.rights.endpoint
        may = "yes" if shown_right.rights.may else ""
        yield [
            ", ".join(endpoint.methods),
            endpoint.path,
            may,
            shown_right.why_not,
            "; ".join(shown_right.records),
        ]


def shown_rights(rights: Iterable[EndpointRights], rules: MatrixRules) -> Iterator[ShownRights]:
    # Asked for once: there may be a thousand.
    page = reverse("admin:designer_endpoint_change", args=[0])
    for right in rights:
        records = rules.records(right) if right.may else []
        yield ShownRights(right, page.replace("/0/", f"/{right.id}/"), said(right.why_not), records)


def _types_with_records() -> tuple[CallerTypeDefinition, ...]:
    return tuple(type for type in latest().caller_types if type.entity or type.is_of_users)


def _sent(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the values that the form was sent with, for the buttons that choose another caller of the
    record.
    """
    left_out = ("csrfmiddlewaretoken", "as", "token")
    return [
        (name, value) for name, values in request.POST.lists() for value in values if name not in left_out
    ]

"""What the pages of endpoints and of option sets share: the list with readiness, and the page of one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import copy
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied
from django.db.models import Model, QuerySet
from django.forms import BaseFormSet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.dateparse import parse_datetime
from django.utils.decorators import method_decorator
from django.utils.functional import SimpleLazyObject
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from designer.configuration import Configuration
from designer.example_calls.renamed_values import following_renames
from designer.history.broken_callers import BREAKS
from designer.history.write_access import PERMISSION
from designer.kinds import OperationKind
from designer.loading import latest
from designer.models import Endpoint
from designer.names import USER_TYPE
from designer.readiness import Finding, Severity
from designer.readiness.findings import DRIFT
from designer.studio.breakable_paths import breakable
from designer.studio.checking.examined_page import examine
from designer.studio.checking.live_page import live_state
from designer.studio.checking.previews import preview_html, preview_of, service_address
from designer.studio.endpoint_form.endpoint_list import ReadyList
from designer.studio.endpoint_form.fetchxml_fields import QUERY_SCRIPTS
from designer.studio.endpoint_form.form import (
    form_for,
)
from designer.studio.endpoint_form.list_rows import ItemRows, ListingInputInline
from designer.studio.endpoint_form.page_data import page_data
from designer.studio.endpoint_form.renamed_inputs import with_renamed_inputs
from designer.studio.endpoint_form.sections import page_sections
from designer.studio.endpoint_form.sharing_words import sharing_words
from designer.studio.metadata.page_metadata import known_metadata, sharing_metadata
from designer.studio.navigation.badges import badge
from designer.studio.navigation.request_overview import overview_for
from designer.studio.saving.acknowledgements import change_acknowledgements
from designer.studio.saving.checked_save import CheckedAdmin, checker, refused_findings, warn
from designer.studio.saving.deletions import deleted_endpoint, deletion_context
from designer.studio.saving.opened_access import OpenedAccess
from designer.studio.trying.caller_fields import labelled
from designer.studio.trying.example_pages import example_view, examples_view
from designer.studio.trying.run_page import may_run, run_view
from designer.studio.trying.try_page import try_view
from designer.studio.trying.unsaved_page import forms_of

_NOT_SAVED = _("Not saved.")


class EndpointPages(CheckedAdmin):
    """The list and the page of endpoints. `endpoint_admin` and `option_sets` say what theirs show."""

    list_select_related = ("module", "entity__module")
    add_form_template = "admin/change_form.html"
    change_form_template = "designer/endpoint/page.html"
    delete_confirmation_template = "designer/endpoint/delete.html"
    delete_selected_confirmation_template = "designer/endpoint/delete_selected.html"
    access_fields = frozenset(
        {
            *("enabled", "authentication_required", "caller_types", "callers", "row_rule", "preconditions"),
            *("settings__may_create_outside_rule", "fetchers.apply_row_rules"),
        }
    )

    class Media:
        css = {
            "all": [
                *("designer/studio.css", "designer/endpoint.css", "designer/grid.css"),
                "designer/query.css",
            ]
        }
        js = [
            *("designer/rows.js", "designer/picker.js", "designer/inputs.js", "designer/bindings.js"),
            *(
                "designer/attributes.js",
                "designer/lists.js",
                "designer/folded.js",
                "designer/grid.js",
                "designer/dock.js",
            ),
            *("designer/fixes.js", "designer/live.js"),
            *("designer/unsaved.js", "designer/run.js", "designer/suggestions.js"),
            *(*QUERY_SCRIPTS, "designer/query/answer.js"),
            *("designer/caller_fields.js", "designer/new_endpoint.js"),
        ]

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        # The page asks the platform for the same metadata in many places.
        with sharing_metadata():
            row = self.get_object(request, object_id) if object_id and request.method == "POST" else None
            if row is not None:
                # What else on the page names an input follows its new name.
                request.POST = with_renamed_inputs(request.POST, row)  # type: ignore[assignment]
            return super().changeform_view(request, object_id, *args, **kwargs)

    def ask_platform(self, request: HttpRequest, row: Model | None) -> None:
        """Ask the platform, before the transaction of the save, for all metadata that the save needs.

        The rules need metadata of whatever the page says now, which may name entities for the first time.
        """
        if isinstance(row, Endpoint) and row.operation is not None:
            examine(row, *forms_of(self, request, row))
        else:
            super().ask_platform(request, row)

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponseBase | None:
        """Run an action of the list. The page that confirms a deletion also says what callers lose."""
        response: HttpResponseBase | None = super().response_action(request, queryset)
        confirmation = self.delete_selected_confirmation_template
        if isinstance(response, TemplateResponse) and response.template_name == confirmation:
            context = response.context_data or {}
            response.context_data = {**context, **deletion_context(request, context["queryset"])}
        return response

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        if request.method == "POST":
            # The confirmation page has said how often the endpoint is called, and that such calls will fail:
            # the form answers that question, which the save would ask otherwise.
            posted = request.POST.copy()
            posted[BREAKS] = "1"
            request.POST = posted  # type: ignore[assignment]
        return super().delete_view(request, object_id, extra_context)

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        context["deleted_endpoint"] = deleted_endpoint(request, context["object"])
        form: HttpResponse = super().render_delete_form(request, context)
        return form

    def kind_of(self, obj: Endpoint | None) -> OperationKind | None:
        """Return the kind of an endpoint; None for a new endpoint (None), and where the kind is unknown."""
        return obj.operation if obj else None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related("module", "entity__module")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ReadyList]:
        return ReadyList

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form class of the endpoint's kind."""
        kind = self.kind_of(obj)
        if kind is not None:
            kwargs["form"] = form_for(kind, obj.entity if obj else None)
        form = super().get_form(request, obj, change=change, **kwargs)
        if obj is not None and form.refused:
            # After a refused save the page itself shows each finding at its field. The form only says that
            # nothing was saved, in one finding without a field.
            form.refused = [Finding("", Severity.BLOCKING, str(_NOT_SAVED), "")]
        return form

    def save_related(
        self, request: HttpRequest, form: Any, formsets: Iterable[BaseFormSet[Any]], change: bool
    ) -> None:
        # Example calls have values by the names of inputs.
        with following_renames(form.instance):
            super().save_related(request, form, formsets, change)

    def opened_access(self, before: Configuration, now: Configuration, row: Model) -> OpenedAccess | None:
        """Return how the save changes who may call the endpoint; None for a new one, which had no callers."""
        earlier, later = before.endpoints.get(row.pk), now.endpoints.get(row.pk)
        # One whose rows could not be read before has kept its access.
        if earlier is None or later is None or later.problem is not None:
            return None
        return OpenedAccess(
            row.pk,
            earlier.definition.access,
            later.definition.access,
            writes=later.kind.writes,
            is_draft=not later.definition.enabled,
        )

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        """Return the blocking findings of an enabled endpoint. Without any, show the others as messages.

        A draft may have any findings. Who stays on the page sees them there, and needs no messages.
        """
        findings = checker().endpoint_if_known(row.pk)
        if not row.enabled:  # type: ignore[attr-defined]
            return []
        blocking = [finding for finding in findings if finding.is_blocking]
        if not blocking and "_continue" not in request.POST:
            warn(request, findings)
        return blocking

    def get_urls(self) -> list[URLPattern]:
        views = {
            "check": self.check_view,
            "try": self.try_view,
            "run": self.run_view,
            "acknowledge": self.acknowledge_view,
            "example-calls": self.examples_view,
            "example-call": self.example_view,
        }
        own_urls = [
            path(f"<path:object_id>/{name}/", self.admin_site.admin_view(view), name=self._url_name(name))
            for name, view in views.items()
        ]
        return [*own_urls, *super().get_urls()]

    def _url_name(self, page: str) -> str:
        """Return the name in the URL conf of a page beside the endpoint's own, such as `check`."""
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def _url(self, page: str, row: Endpoint) -> str:
        return reverse(f"admin:{self._url_name(page)}", args=[row.pk])

    def _endpoint_or_404(self, request: HttpRequest, object_id: str) -> Endpoint:
        """Return the endpoint with that row id. Raises Http404 for none, and for one of an unknown kind."""
        row: Endpoint | None = self.get_object(request, object_id)
        if row is None or row.operation is None:
            raise Http404
        return row

    def try_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self._endpoint_or_404(request, object_id)
        return try_view(self, request, row, self._url("example-call", row))

    def examples_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self._endpoint_or_404(request, object_id)
        return examples_view(self, request, row, self._url("example-call", row))

    def example_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self._endpoint_or_404(request, object_id)
        return example_view(self, request, row, self._url("example-calls", row))

    @method_decorator(require_POST)
    def run_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return run_view(self, request, self._endpoint_or_404(request, object_id))

    @method_decorator(require_POST)
    def acknowledge_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self._endpoint_or_404(request, object_id)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        change_acknowledgements(request, row)
        return HttpResponseRedirect(self._url("change", row))

    @method_decorator(require_POST)
    def check_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Answer with the findings, preview and words about the page as it is filled in, for `live.js`."""
        row = self._endpoint_or_404(request, object_id)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        with sharing_metadata():
            state = live_state(row, *forms_of(self, request, row), service_address(request))
            if "_metadata" in request.POST:
                # The metadata was fetched anew from this page: its lists get the new choices.
                state["data"] = page_data(row, known_metadata())
            return JsonResponse(state)

    def get_formset_kwargs(
        self, request: HttpRequest, obj: Any, inline: admin.options.InlineModelAdmin[Any, Any], prefix: str
    ) -> dict[str, Any]:
        # For a POST, the admin copies all sent values for each formset. It needs that only for “save as new”,
        # which these pages do not have, and hundreds of values take long to copy. So it is shown a GET, and
        # the values are added here.
        as_get = copy(request)
        as_get.method = "GET"
        arguments: dict[str, Any] = super().get_formset_kwargs(as_get, obj, inline, prefix)
        if request.method == "POST":
            arguments |= {"data": request.POST, "files": request.FILES}
        return arguments

    def _build_nested_formsets(
        self, request: HttpRequest, obj: Any, formsets: Any, inline_instances: Any, change: bool
    ) -> None:
        """Give each row that holds a list of records the rows for what each record has.

        Unfold calls this, and saves and validates the formsets that it finds as `nested_formsets` of a form.
        """
        for formset, inline in zip(formsets, inline_instances, strict=True):
            if isinstance(inline, ListingInputInline):
                rows = ItemRows(self, request, obj)
                # Lazy: a page that is shown needs the template, not the check after each key.
                formset.item_template = SimpleLazyObject(rows.template)
                for form in formset.forms:
                    form.nested_formsets = rows.of(form)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        """Show the form. That of a stored endpoint has its findings, its preview and *Try it* beside it."""
        row = kwargs.get("obj")
        if row is not None:
            context |= self._page_context(request, row, context)
        response: HttpResponse = super().render_change_form(request, context, **kwargs)
        return response

    def _page_context(self, request: HttpRequest, row: Endpoint, context: dict[str, Any]) -> dict[str, Any]:
        """Return what the endpoint's page shows beside what the admin gives (`context`): findings, preview,
        addresses, and what the account may do.
        """
        refused = refused_findings(request)
        adminform, inlines = context["adminform"], context["inline_admin_formsets"]
        if refused:
            # The page says at its top that nothing was saved, and marks each finding at its place. The form's
            # own words would say so twice more.
            form_errors = adminform.form.errors
            rest = [said for said in form_errors.pop(NON_FIELD_ERRORS, ()) if said != _NOT_SAVED]
            if rest:
                form_errors[NON_FIELD_ERRORS] = adminform.form.error_class(rest)
            context["errors"] = list(form_errors.values())
        examined = examine(row, adminform.form, [inline.formset for inline in inlines], refused)
        endpoint = examined.configuration.endpoints.get(row.pk)
        return {
            "readiness": badge(row.enabled, examined.findings),
            "verdict": examined.verdict(row),
            "located": examined.located,
            "sections": page_sections(
                adminform,
                inlines,
                examined.located,
                shared_by=sharing_words(endpoint),
                asks_query=bool(row.operation and row.operation.settings.asks_query),
            ),
            "page_data": page_data(row, known_metadata()),
            "refused": bool(refused),
            "preview": preview_html(preview_of(endpoint, service_address(request))),
            "drift": [
                finding
                for finding in overview_for(request).by_endpoint.get(row.pk, ())
                if finding.rule == DRIFT
            ],
            "is_unsaved": adminform.form.is_bound,
            "check_url": self._url("check", row),
            "try_url": self._url("try", row),
            "examples_url": self._url("example-calls", row),
            "examples_count": len(row.example_calls),
            "acknowledge_url": self._url("acknowledge", row),
            "may_acknowledge": request.user.has_perm(PERMISSION),
            "acknowledgements": [
                {**known, "at": parse_datetime(known.get("at", ""))} for known in row.acknowledgements
            ],
            "run_url": self._url("run", row) if may_run(request, row) else "",
            "view_as_url": f"{reverse('studio:view_as')}?{_view_as_query(row)}",
        }

    @admin.display(description=_("Readiness"))
    def ready(self, row: Any) -> SafeString:
        return badge(row.enabled, row.findings)

    @admin.display(description=_("Method and path"))
    def place(self, row: Endpoint) -> SafeString:
        return format_html("<code>{}</code>", breakable(row.methods_and_path))

    @admin.display(description=_("Access"))
    def access(self, row: Endpoint) -> str:
        if not row.authentication_required:
            return gettext("Anyone")
        return ", ".join(role.name for role in row.roles.all()) or gettext("Authenticated")

    @admin.display(description=_("Kind"))
    def kind_label(self, row: Endpoint) -> str:
        return (
            gettext(row.operation.label)
            if row.operation
            else gettext("Unknown: %(kind)s") % {"kind": row.kind}
        )

    @admin.display(description=_("Caller types"))
    def caller_types_shown(self, row: Endpoint) -> str:
        if not row.authentication_required:
            return gettext("Callers of every type")
        labels = {type.name: labelled(type) for type in latest().caller_types}
        return ", ".join(labels.get(name, name) for name in row.caller_types)

    @admin.display(description=_("Roles"))
    def callers_shown(self, row: Endpoint) -> str:
        return ", ".join(str(role) for role in row.roles.all()) or gettext("Every authenticated caller")


def _view_as_query(row: Endpoint) -> str:
    """Return the query string of “View as” for callers who see the endpoint.

    They have one of its roles and one of its caller types, or are anonymous where no token is needed.
    """
    if not row.authentication_required:
        return urlencode({"role": "anonymous"})
    roles = [role.name for role in row.roles.all()][:1]
    # Without a type, “View as” shows what users of the platform see.
    types = [] if USER_TYPE in row.caller_types else row.caller_types[:1]
    return urlencode({"role": roles, "type": types}, doseq=True)

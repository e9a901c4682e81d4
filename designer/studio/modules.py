"""Modules, and the entities that they expose."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _

from designer.access_control.usual_filters import usual_filters
from designer.configuration import Configuration
from designer.entities_used import entities_linked
from designer.loading import latest
from designer.models import Endpoint, ExposedEntity, Module
from designer.readiness import Finding, Severity
from designer.readiness.rules.step_rules import ENTITY_RULE
from designer.studio.endpoint_form.fetchxml_fields import QUERY_SCRIPTS
from designer.studio.endpoint_form.page_data import user_data
from designer.studio.look import searchable
from designer.studio.metadata import choices
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.navigation.request_overview import overview_for
from designer.studio.row_rule_entries import (
    ASKED,
    ENTRY,
    OPENS,
    RowRuleInline,
    also_exposed,
    entry_in_words,
    opens_all_records,
)
from designer.studio.rule_columns import context_of_column, show_only_entries_of, shown_role
from designer.studio.saving.needed_rows import NeededAdmin
from designer.studio.saving.refusal_form import RefusalForm


@admin.register(Module)
class ModuleAdmin(NeededAdmin):
    form = RefusalForm
    when_empty = _("No module yet. A module groups endpoints under one segment of their paths.")
    list_display = ("segment", "title", "description")
    search_fields = ("segment", "title")


class ExposedEntityForm(RefusalForm):
    @property
    def own_refused(self) -> Collection[Finding]:
        # The others stand at the entries of the row rule.
        return [finding for finding in self.refused if not finding.field.startswith(ENTRY)]

    class Meta:
        model = ExposedEntity
        fields = ("module", "entity", "segment", "title", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "entity" in self.fields:
            offered = choices.entities(known_metadata())
            field = forms.ChoiceField(
                label=self.fields["entity"].label,
                choices=choices.with_present(offered, self.instance.entity),
                help_text=self.fields["entity"].help_text,
            )
            self.fields["entity"] = searchable(field)


@admin.register(ExposedEntity)
class ExposedEntityAdmin(NeededAdmin):
    form = ExposedEntityForm
    inlines = (RowRuleInline,)
    access_fields = frozenset({"row_rule"})
    change_form_template = "designer/exposed_entity.html"
    when_empty = _("No entity yet. Exposing one makes its usual endpoints in one go.")
    list_display = ("segment", "module", "entity", "title")
    list_filter = ("module",)
    list_select_related = ("module",)
    search_fields = ("segment", "entity", "title")

    class Media:
        css = {"all": ["designer/studio.css", "designer/endpoint.css", "designer/query.css"]}
        js = [
            *("designer/rows.js", "designer/picker.js"),
            *QUERY_SCRIPTS,
            "designer/suggestions.js",
        ]

    def needing(self, objs: Any) -> QuerySet[Endpoint]:
        """Return the endpoints of the entities `objs`, and those that relate records to them."""
        segments = {(row.module.segment, row.segment) for row in objs}
        related = [
            id
            for id, endpoint in latest().endpoints.items()
            if (endpoint.definition.module, endpoint.definition.settings.related_segment) in segments
        ]
        of_entities = super().needing(objs)
        return (of_entities | Endpoint.objects.filter(pk__in=related).distinct()) if related else of_entities

    def entities_named(self, form: Any, formsets: Collection[Any]) -> Iterable[str]:
        """Return the entities that the row rule links to."""
        entries = [entry.definition for formset in formsets for entry in formset.forms]
        return [name for entry in entries if entry is not None for name in entities_linked(entry.filter)]

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        """Return the blocking findings and, where the save ends a row rule, the question whether that is
        meant, until its tick is sent.
        """
        findings = list(super().refusals(request, row))
        if opens_all_records(request.configuration_before, latest(), row) and OPENS not in request.POST:  # type: ignore[attr-defined]
            request.asks_to_open = True  # type: ignore[attr-defined]
            findings.append(
                Finding(rule="", severity=Severity.BLOCKING, message=ASKED, subject="", field=ENTITY_RULE)
            )
        return findings

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        """Show the page of an exposed entity with what its editor of row rules knows, and with the other
        exposures of the same entity.
        """
        row = kwargs.get("obj")
        configuration = overview_for(request).configuration
        context["page_data"] = user_data(configuration, known_metadata())
        if row is not None:
            context["page_data"]["usual"] = usual_filters(row.entity, configuration, known_metadata())
            if (role := shown_role(request)) is not None:
                context |= self._context_of_column(row, configuration, role)
            context["also_exposed"] = also_exposed(row)
            context["asks_to_open"] = OPENS if getattr(request, "asks_to_open", False) else ""
        response: HttpResponse = super().render_change_form(request, context, **kwargs)
        return response

    def _context_of_column(
        self, row: ExposedEntity, configuration: Configuration, role: str
    ) -> dict[str, Any]:
        """Return the context of the page that shows the entries of one role only, or those for everyone if
        `role` is empty.
        """
        exposed = configuration.ids.entities.get(row.pk) if configuration.ids else None
        column = context_of_column(row, exposed, role)
        entries = (
            [entry_in_words(exposed, entry, known_metadata()) for entry in column["others"]]
            if exposed
            else []
        )
        return {**column, "is_column": True, "others": entries}

    def get_urls(self) -> list[URLPattern]:
        view, name = self.admin_site.admin_view(self.row_rule_view), "designer_exposedentity_row_rule"
        added = [
            path("<path:object_id>/row-rule/", view, name=name),
            path("<path:object_id>/row-rule/<str:role>/", view, name=f"{name}_of_role"),
        ]
        return [*added, *super().get_urls()]

    def row_rule_view(self, request: HttpRequest, object_id: str, role: str = "") -> HttpResponseBase:
        """Show or save the entries of the row rule for one role, or those for everyone without a role: a
        column of the permission matrix.
        """
        show_only_entries_of(request, role)
        hidden = dict.fromkeys(("show_save_and_add_another", "show_delete"), False)
        return self.changeform_view(request, object_id, extra_context=hidden)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponseBase:
        response: HttpResponseBase = super().response_change(request, obj)
        if shown_role(request) is None or "_continue" in request.POST:
            return response
        return HttpResponseRedirect(f"{reverse('studio:matrix')}?{request.GET.urlencode()}")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        # The page of a column shows entries of the rule, and not the fields of the entity.
        return super().get_fieldsets(request, obj) if shown_role(request) is None else ()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Its endpoints' attributes are those of the entity that it was made for.
        return ("module", "entity") if obj else ()

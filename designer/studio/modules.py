"""Modules, and the entities that they expose."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from designer.loading import latest
from designer.models import Endpoint, ExposedEntity, Module
from designer.readiness import Finding, Severity
from designer.readiness.rules.step_rules import ENTITY_RULE
from designer.studio.endpoint_form.fetchxml_fields import QUERY_SCRIPTS
from designer.studio.endpoint_form.page_data import user_data
from designer.studio.look import searchable
from designer.studio.metadata import choices
from designer.studio.metadata.known import known_metadata
from designer.studio.navigation.seen import seen_by
from designer.studio.row_rule_entries import ASKED, ENTRY, OPENS, RowRuleInline, also_exposed, opens
from designer.studio.saving.checked import RefusalForm
from designer.studio.saving.needed import NeededAdmin


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
            *(*QUERY_SCRIPTS, "designer/platform.js"),
            "designer/suggestions.js",
        ]

    def needing(self, objs: Any) -> QuerySet[Endpoint]:
        """Those that work on one of `objs`, and those that relate records to it, which the row only names."""
        segments = {(row.module.segment, row.segment) for row in objs}
        related = [
            id
            for id, endpoint in latest().endpoints.items()
            if (endpoint.definition.module, endpoint.definition.settings.related_segment) in segments
        ]
        own = super().needing(objs)
        return (own | Endpoint.objects.filter(pk__in=related).distinct()) if related else own

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        """Beside what would be blocked: ending a row rule is asked about once."""
        found = list(super().refusals(request, row))
        if opens(request.configuration_before, latest(), row) and OPENS not in request.POST:  # type: ignore[attr-defined]
            request.asks_to_open = True  # type: ignore[attr-defined]
            found.append(Finding("", Severity.BLOCKING, ASKED, "", ENTITY_RULE))
        return found

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        context["page_data"] = user_data(seen_by(request).configuration, known_metadata())
        if row is not None:
            context["also_exposed"] = also_exposed(row)
            context["asks_to_open"] = OPENS if getattr(request, "asks_to_open", False) else ""
        response: HttpResponse = super().render_change_form(request, context, **kwargs)
        return response

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Its endpoints' attributes are those of the entity that it was made for.
        return ("module", "entity") if obj else ()

"""Modules, and the entities that they expose."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from designer.loading import latest
from designer.models import Endpoint, ExposedEntity, Module
from designer.studio.endpoint_form.fetchxml_fields import FetchXmlField
from designer.studio.look import searchable
from designer.studio.metadata import choices
from designer.studio.metadata.known import known_metadata
from designer.studio.saving.checked import RefusalForm
from designer.studio.saving.needed import NeededAdmin


@admin.register(Module)
class ModuleAdmin(NeededAdmin):
    form = RefusalForm
    when_empty = _("No module yet. A module groups endpoints under one segment of their paths.")
    list_display = ("segment", "title", "description")
    search_fields = ("segment", "title")


class ExposedEntityForm(RefusalForm):
    class Meta:
        model = ExposedEntity
        fields = ("module", "entity", "segment", "title", "description", "row_rule")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "row_rule" in self.fields:
            rule = self.fields["row_rule"]
            self.fields["row_rule"] = FetchXmlField(
                "filter", self.instance.entity, label=rule.label, help_text=rule.help_text
            )
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
    change_form_template = "designer/exposed_entity.html"
    when_empty = _("No entity yet. Exposing one makes its usual endpoints in one go.")
    list_display = ("segment", "module", "entity", "title")
    list_filter = ("module",)
    list_select_related = ("module",)
    search_fields = ("segment", "entity", "title")

    class Media:
        css = {"all": ["designer/studio.css", "designer/endpoint.css"]}
        js = [
            *("designer/rows.js", "designer/picker.js"),
            *("designer/fetchxml_filter.js", "designer/fetchxml.js", "designer/platform.js"),
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

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Its endpoints' attributes are those of the entity that it was made for.
        return ("module", "entity") if obj else ()

"""Modules, and the entities that they expose."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from designer.admin import choices
from designer.admin.checked import RefusalForm, SharedAdmin
from designer.admin.look import searchable
from designer.models import ExposedEntity, Module
from designer.platform import get_platform
from designer.readiness import Metadata


@admin.register(Module)
class ModuleAdmin(SharedAdmin):
    form = RefusalForm
    list_display = ("segment", "title", "description")
    search_fields = ("segment", "title")


class ExposedEntityForm(RefusalForm):
    class Meta:
        model = ExposedEntity
        fields = ("module", "entity", "segment", "title", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "entity" in self.fields:
            offered = choices.entities(Metadata(get_platform()))
            help_text = self.fields["entity"].help_text
            field = forms.ChoiceField(
                choices=choices.with_present(offered, self.instance.entity), help_text=help_text
            )
            self.fields["entity"] = searchable(field)


@admin.register(ExposedEntity)
class ExposedEntityAdmin(SharedAdmin):
    form = ExposedEntityForm
    list_display = ("segment", "module", "entity", "title")
    list_filter = ("module",)
    list_select_related = ("module",)
    search_fields = ("segment", "entity", "title")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Its endpoints' attributes are those of the entity that it was made for.
        return ("module", "entity") if obj else ()

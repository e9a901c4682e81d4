"""The studio's list of the values of this environment that imported documents refer to by names."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from designer.models import EnvironmentValue
from designer.studio.look import ModelAdmin


@admin.register(EnvironmentValue)
class EnvironmentValueAdmin(ModelAdmin):
    """A list that nobody edits: the values stand in endpoints and row rules, and imports put them there."""

    list_display = ("name", "type", "text", "used_by")
    list_display_links = None
    actions = None
    search_fields = ("name", "text")
    when_empty = _("No imported document names a value that differs from one environment to the next.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[EnvironmentValue]:
        rows: QuerySet[EnvironmentValue] = super().get_queryset(request)
        return rows.prefetch_related("uses")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description=_("Used by"))
    def used_by(self, row: EnvironmentValue) -> SafeString:
        keys = dict.fromkeys(use.key for use in row.uses.all())
        return format_html_join(", ", "{}", ((key,) for key in keys))

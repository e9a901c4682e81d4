"""Global option sets: endpoints of one kind, with a page that asks for nothing else."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _

from designer.kinds import OperationKind
from designer.kinds.option_sets import GLOBAL_OPTION_SET
from designer.models import Endpoint, OptionSet
from designer.studio.endpoint_form.form import ACCESS_FIELDS, READ_ONLY_ACCESS_FIELDS, form_for
from designer.studio.endpoint_form.sections import section
from designer.studio.endpoint_pages import EndpointPages


@admin.register(OptionSet)
class OptionSetAdmin(EndpointPages):
    """Endpoints of global option sets. They have no inputs and no columns, and all fields are on one page."""

    when_empty = gettext_lazy("No option set is served yet. Each gives callers the options of one choice.")
    add_form_template = "designer/new_option_set.html"
    list_display = ("place", "ready", "served", "access", "title")
    list_display_links = ("place",)
    list_filter = ("enabled",)
    search_fields = ("name", "title")

    def kind_of(self, obj: Endpoint | None) -> OperationKind:
        return GLOBAL_OPTION_SET

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("roles")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        # The default of the field is for other kinds, which need a token.
        usual_access = {"authentication_required": not GLOBAL_OPTION_SET.public}
        return {**usual_access, **super().get_changeform_initial_data(request)}

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        endpoint = section(_("Endpoint"), "endpoint", "name", "enabled")
        documentation = section(_("Documentation"), "documentation", "title", "description")
        if obj is not None and not self.has_change_permission(request, obj):
            readable = section(_("Access control"), "access", *READ_ONLY_ACCESS_FIELDS)
            return [endpoint, documentation, readable]
        fields = [
            name for name in form_for(GLOBAL_OPTION_SET, None).base_fields if name.startswith("settings__")
        ]
        limits = [name for name in fields if name.startswith("settings__limits__")]
        return [
            endpoint,
            section(_("Options"), "settings", *(name for name in fields if name not in limits)),
            documentation,
            section(_("Access control"), "access", *ACCESS_FIELDS),
            section(_("Limits"), "limits", *limits),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("caller_types_shown", "callers_shown")

    @admin.display(description=gettext_lazy("Option set"))
    def served(self, row: Endpoint) -> str:
        settings = row.settings if isinstance(row.settings, dict) else {}
        return str(settings.get("option_set") or "—")

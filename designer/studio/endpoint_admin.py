"""Endpoints in the studio: their list, and the sections of the page on which one is designed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import BaseFormSet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from designer.kinds import KINDS, Scope, Section
from designer.models import Endpoint, ExposedEntity
from designer.readiness.rules.audit_rules import WRITE_WITHOUT_ROLES
from designer.studio.endpoint_form.endpoint_list import KindFilter
from designer.studio.endpoint_form.form import (
    ACCESS_FIELDS,
    READ_ONLY_ACCESS_FIELDS,
    form_for,
)
from designer.studio.endpoint_form.inlines import SECTION_INLINES, InputInline
from designer.studio.endpoint_form.list_rows import ListingInputInline
from designer.studio.endpoint_form.new_endpoint import exposed_entity_of, new_form_class, ordered_field_names
from designer.studio.endpoint_form.sections import section
from designer.studio.endpoint_pages import EndpointPages
from designer.studio.saving.checked_save import checker
from designer.studio.sent_numbers import sent_number


@admin.register(Endpoint)
class EndpointAdmin(EndpointPages):
    when_empty = _("No endpoint yet. Expose an entity to create the usual ones at once.")
    list_display = ("place", "ready", "kind_label", "module", "access", "title")
    list_display_links = ("place",)
    list_filter = (KindFilter, "module", "enabled")
    search_fields = ("title", "segment", "name", "entity__segment", "entity__entity", "module__segment")
    list_per_page = 50
    list_before_template = "designer/endpoint/listed_entity.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """Show the list. Where it is that of one exposed entity, it leads to the entity and its row rule."""
        id = sent_number(request.GET.get("entity__id__exact", ""))
        listed = None
        if id is not None and request.user.has_perm("designer.view_exposedentity"):
            listed = ExposedEntity.objects.select_related("module").filter(pk=id).first()
        response: HttpResponseBase = super().changelist_view(
            request, {"listed_entity": listed, **(extra_context or {})}
        )
        return response

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("roles")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is None:
            kwargs["form"] = new_form_class(exposed_entity_of(request))
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the sections of the page: what a new endpoint needs; for who may only look, or for a kind
        that this installation lacks, what there is to read; else the sections of the endpoint's kind.
        """
        if obj is None:
            fields = ordered_field_names(new_form_class(exposed_entity_of(request)))
            return [(None, {"fields": [field for field in fields if _is_asked(field)]})]
        kind = obj.operation
        if kind is None or not self.has_change_permission(request, obj):
            return _read_only_sections()
        # A row rule only means something for endpoints that read or write records.
        row_rule = ["row_rule"] if kind.has_rows else []
        form_fields = form_for(kind, obj.entity).base_fields
        all_settings = [name for name in form_fields if name.startswith("settings__")]
        caching = [name for name in all_settings if name.startswith("settings__cache__")]
        limits = [name for name in all_settings if name.startswith("settings__limits__")]
        settings = [name for name in all_settings if name not in (*caching, *limits)]
        # The path of a kind, such as "/api/{module}/{name}", tells which fields the endpoint's path is made
        # of.
        place = ["enabled", *(name for name in ("segment", "name") if f"{{{name}}}" in kind.path)]
        return [
            section(_("Endpoint"), "endpoint", ("kind_label", "belongs_to"), *place),
            section(_("Documentation"), "documentation", "title", "description"),
            *([section(_(kind.label), "settings", *settings)] if settings else []),
            section(_("Access control"), "access", *ACCESS_FIELDS, *row_rule),
            section(_("Limits"), "limits", *limits),
            *([section(_("Cached answers"), "caching", *caching)] if caching else []),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("kind_label", "belongs_to", "caller_types_shown", "callers_shown") if obj else ()

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        sections = obj.operation.sections if obj and obj.operation else frozenset()
        inlines = [SECTION_INLINES[section] for section in Section if section in sections]
        takes_lists = obj is not None and obj.operation is not None and obj.operation.takes_lists
        return [ListingInputInline if takes_lists and inline is InputInline else inline for inline in inlines]

    def save_related(
        self, request: HttpRequest, form: Any, formsets: Iterable[BaseFormSet[Any]], change: bool
    ) -> None:
        """Save the rows of a new endpoint, and switch it on if nothing stands in the way."""
        super().save_related(request, form, formsets, change)
        row = form.instance
        if change or not form.cleaned_data.get("enabled"):
            return
        # *Enabled* is ticked when the page opens, so nobody has decided to let every caller write.
        if not any(
            finding.is_blocking or finding.rule == WRITE_WITHOUT_ROLES
            for finding in checker().endpoint_if_known(row.pk)
        ):
            row.enabled = True
            row.save(update_fields=["enabled"])

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponseBase:
        """Stay on the page of a new endpoint, where it is completed."""
        if not obj.enabled:
            messages.info(request, _("It is a draft. Complete it here, then switch it on."))
        posted = request.POST.copy()
        posted["_continue"] = "1"
        request.POST = posted  # type: ignore[assignment]
        response: HttpResponseBase = super().response_add(request, obj, post_url_continue)
        return response

    @admin.display(description=_("Belongs to"))
    def belongs_to(self, row: Endpoint) -> str:
        return str(row.entity or row.module or "—")


def _is_asked(field: str) -> bool:
    """Whether the form of a new endpoint has `field`. It asks for a module, or for an exposed entity, only if
    this installation has a kind of operation that belongs to one.
    """
    scope = {"module": Scope.MODULE, "entity": Scope.ENTITY}.get(field)
    return scope is None or any(kind.scope is scope for kind in KINDS.values())


def _read_only_sections() -> Any:
    """Return the sections for an endpoint that cannot be changed, with who may call it as text."""
    return [
        section(_("Endpoint"), "endpoint", ("kind_label", "belongs_to"), "enabled", "segment", "name"),
        section(_("Documentation"), "documentation", "title", "description"),
        section(_("Access control"), "access", *READ_ONLY_ACCESS_FIELDS),
    ]

"""Endpoints: the list with their readiness, and the page on which one is designed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.html import format_html
from django.utils.safestring import SafeString

from designer.admin.badges import badge
from designer.admin.checked import CheckedAdmin, checker, warn
from designer.admin.endpoint_form import NewEndpointForm, form_for
from designer.admin.inlines import SECTION_INLINES
from designer.admin.look import ChangeList
from designer.kinds import KINDS, OperationKind, Scope, Section
from designer.models import Endpoint
from designer.readiness import Finding


class ReadyList(ChangeList):
    """Checks the page's rows against one configuration, whatever their number."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        checks = checker()
        for row in self.result_list:
            row.findings = checks.endpoint_if_known(row.pk)


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind.name, kind.label) for kind in KINDS.values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class EndpointPages(CheckedAdmin):
    """What the pages of endpoints and of option sets share."""

    list_select_related = ("module", "entity__module")
    change_form_before_template = "designer/endpoint_header.html"
    warn_unsaved_form = True

    class Media:
        css = {"all": ["designer/studio.css"]}
        js = ["designer/studio.js"]

    def kind_of(self, obj: Endpoint | None) -> OperationKind | None:
        return obj.operation if obj else None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related("module", "entity__module")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ReadyList

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        kind = self.kind_of(obj)
        if kind is not None:
            kwargs["form"] = form_for(kind, obj.entity.entity if obj and obj.entity else "")
        return super().get_form(request, obj, change=change, **kwargs)

    def refusals(self, request: HttpRequest, row: Model) -> Collection[Finding]:
        findings = checker().endpoint_if_known(row.pk)
        if not row.enabled:  # type: ignore[attr-defined]
            return []
        blocking = [finding for finding in findings if finding.is_blocking]
        if not blocking and "_continue" not in request.POST:
            warn(request, findings)
        return blocking

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        if row is not None:
            refused = getattr(request, "refused", None)
            findings = refused or checker().endpoint_if_known(row.pk)
            context |= {
                "readiness": badge(row.enabled, findings),
                "findings": findings,
                "refused": refused is not None,
            }
        response: HttpResponse = super().render_change_form(request, context, **kwargs)
        return response

    @admin.display(description="Readiness")
    def ready(self, row: Any) -> SafeString:
        return badge(row.enabled, row.findings)

    @admin.display(description="Method and path")
    def place(self, row: Endpoint) -> SafeString:
        methods = ", ".join(row.operation.methods) if row.operation else ""
        return format_html("<code>{} {}</code>", methods, row.path)

    @admin.display(description="Access")
    def access(self, row: Endpoint) -> str:
        if not row.authentication_required:
            return "Anyone"
        return ", ".join(role.name for role in row.roles.all()) or "Authenticated"

    @admin.display(description="Kind")
    def kind_label(self, row: Endpoint) -> str:
        return row.operation.label if row.operation else f"Unknown: {row.kind}"

    @admin.display(description="Roles")
    def callers_shown(self, row: Endpoint) -> str:
        return ", ".join(str(role) for role in row.roles.all()) or "Every authenticated caller"


@admin.register(Endpoint)
class EndpointAdmin(EndpointPages):
    list_display = ("place", "ready", "kind_label", "module", "access", "title")
    list_display_links = ("place",)
    list_filter = (KindFilter, "module", "enabled")
    search_fields = ("title", "segment", "name", "entity__segment", "entity__entity", "module__segment")
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("roles")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is None:
            kwargs["form"] = NewEndpointForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            places = [field for field in ("module", "entity") if _offered(field)]
            return [(None, {"fields": ["kind", *places, "segment", "name", "title"]})]
        kind = obj.operation
        if kind is None or not self.has_change_permission(request, obj):
            return _readable_fieldsets()
        settings = list(form_for(kind, obj.entity.entity if obj.entity else "").base_fields)
        settings = [name for name in settings if name.startswith("settings__")]
        path = ["segment", *(["name"] if kind.is_named else []), "enabled"]
        return [
            ("Endpoint", {"fields": [("kind_label", "belongs_to"), *path]}),
            ("Documentation", {"fields": ["title", "description"]}),
            *([(kind.label, {"fields": settings})] if settings else []),
            ("Access control", {"fields": ["authentication_required", "callers"]}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("kind_label", "belongs_to", "callers_shown") if obj else ()

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        sections = obj.operation.sections if obj and obj.operation else frozenset()
        return [SECTION_INLINES[section] for section in Section if section in sections]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponseBase:
        messages.info(request, "It is a draft. Complete it here, then switch it on.")
        posted = request.POST.copy()
        posted["_continue"] = "1"
        request.POST = posted  # type: ignore[assignment]
        response: HttpResponseBase = super().response_add(request, obj, post_url_continue)
        return response

    @admin.display(description="Belongs to")
    def belongs_to(self, row: Endpoint) -> str:
        return str(row.entity or row.module or "—")


def _offered(field: str) -> bool:
    scope = {"module": Scope.MODULE, "entity": Scope.ENTITY}[field]
    return any(kind.scope is scope for kind in KINDS.values())


def _readable_fieldsets() -> Any:
    return [
        ("Endpoint", {"fields": [("kind_label", "belongs_to"), "segment", "name", "enabled"]}),
        ("Documentation", {"fields": ["title", "description"]}),
        ("Access control", {"fields": ["authentication_required", "callers_shown"]}),
    ]

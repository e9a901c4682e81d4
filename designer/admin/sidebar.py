"""The studio's tree: context, option sets, modules with their entities and endpoints, accounts."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html

from designer.models import Module


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar, without what the account may not see."""
    groups = [
        _group(
            "Context",
            _item(request, "User properties", "badge", "designer", "userproperty"),
            _item(request, "Roles", "shield_person", "designer", "role"),
        ),
        _group("Option sets", _item(request, "Global option sets", "list_alt", "designer", "optionset")),
        _group(
            "Modules",
            _item(request, "Modules", "folder", "designer", "module"),
            _item(request, "Entities", "table", "designer", "exposedentity"),
            _item(request, "All endpoints", "api", "designer", "endpoint"),
            *_modules(request),
        ),
        _group(
            "Accounts",
            _item(request, "API accounts", "key", "runtime", "apiaccount"),
            _item(request, "Studio accounts", "person", "auth", "user"),
            _item(request, "Groups", "group", "auth", "group"),
        ),
    ]
    return [group for group in groups if group["items"]]


def _group(title: str, *items: dict[str, Any] | None) -> dict[str, Any]:
    return {"title": title, "separator": True, "items": [item for item in items if item is not None]}


def _item(request: HttpRequest, title: str, icon: str, app: str, model: str) -> dict[str, Any] | None:
    if not request.user.has_perm(f"{app}.view_{model}"):
        return None
    try:
        link = reverse(f"admin:{app}_{model}_changelist")
    except NoReverseMatch:
        return None
    return {"title": title, "icon": icon, "link": link, "active": request.path.startswith(link)}


def _modules(request: HttpRequest) -> list[dict[str, Any]]:
    if not request.user.has_perm("designer.view_endpoint"):
        return []
    endpoints = reverse("admin:designer_endpoint_changelist")
    chosen = request.GET.get("module__id__exact")
    return [
        {
            # The look writes titles as they are.
            "title": format_html("… in {}", title or segment),
            "icon": "subdirectory_arrow_right",
            "link": f"{endpoints}?module__id__exact={id}",
            "active": request.path == endpoints and chosen == str(id),
        }
        for id, segment, title in Module.objects.values_list("id", "segment", "title")
    ]

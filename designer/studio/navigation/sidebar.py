"""The studio's tree: modules with their entities and endpoints, option sets, context, pages, accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from designer.models import OptionSet
from designer.overview import Overview
from designer.studio.navigation.request_overview import seen_by
from designer.studio.navigation.tree import module_groups

# Title, icon, name of the page, permission.
Page: TypeAlias = tuple[str | Promise, str, str, str]
_START = (
    (_("Dashboard"), "dashboard", "admin:index", ""),
    (_("Expose an entity"), "add_circle", "studio:expose", "designer.add_endpoint"),
    (_("New query"), "manage_search", "studio:new_query", "designer.add_endpoint"),
    (_("Translations"), "translate", "studio:translations", "designer.view_endpoint"),
)
# Title of the group, then as above of each of its pages.
_TOOLS = (
    (
        _("Access"),
        (
            (_("Permission matrix"), "grid_on", "studio:matrix", "designer.view_endpoint"),
            (
                _("What may this caller do?"),
                "person_search",
                "studio:caller_rights",
                "designer.view_endpoint",
            ),
            (_("Compare two roles"), "compare_arrows", "studio:compare_roles", "designer.view_endpoint"),
            (_("View as"), "visibility", "studio:view_as", "designer.view_endpoint"),
        ),
    ),
    (
        _("Changes"),
        (
            (_("Versions"), "history", "studio:versions", "designer.view_version"),
            (_("Proposals"), "rate_review", "studio:proposals", "designer.view_proposal"),
            (_("Protection"), "lock", "studio:protection", "designer.change_protection"),
            (_("Releases"), "package_2", "studio:releases", "designer.view_release"),
            (_("Export"), "download", "studio:export", "designer.view_endpoint"),
            (_("Import"), "upload", "studio:import", "designer.import_configuration"),
            (
                _("Environment values"),
                "tune",
                "admin:designer_environmentvalue_changelist",
                "designer.view_environmentvalue",
            ),
        ),
    ),
    (
        _("Operation"),
        (
            (_("Usage"), "monitoring", "studio:usage", "designer.view_endpoint"),
            (_("Attributes in use"), "data_object", "studio:attributes", "designer.view_endpoint"),
            (_("Platform"), "speed", "studio:platform_budget", "designer.view_endpoint"),
            (_("Audit log"), "receipt_long", "studio:audit", "designer.view_auditentry"),
        ),
    ),
)
# Title of the group, then title, icon, app and model of each.
_MODULES = (
    _("Modules"),
    (
        (_("Modules"), "folder", "designer", "module"),
        (_("Entities"), "table", "designer", "exposedentity"),
        (_("All endpoints"), "api", "designer", "endpoint"),
    ),
)
_MODELS = (
    (_("Option sets"), ((_("Global option sets"), "list_alt", "designer", "optionset"),)),
    (
        _("Context"),
        (
            (_("Caller types"), "groups", "designer", "callertype"),
            (_("User properties"), "badge", "designer", "userproperty"),
            (_("Roles"), "shield_person", "designer", "role"),
            (_("Issuers"), "fingerprint", "designer", "issuer"),
        ),
    ),
)
_ACCOUNTS = (
    _("Accounts"),
    (
        (_("API accounts"), "key", "runtime", "apiaccount"),
        (_("API keys"), "vpn_key", "runtime", "apikey"),
        # Registered where the setting PROPOSALS_API switches them on.
        (_("Proposal keys"), "draw", "runtime", "proposalkey"),
        (_("Studio accounts"), "person", "auth", "user"),
        (_("Groups"), "group", "auth", "group"),
        (_("Failed logins"), "lock_clock", "runtime", "failedlogins"),
        (_("Refused callers"), "block", "runtime", "refusalcount"),
        (_("Registrations"), "how_to_reg", "runtime", "registration"),
    ),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the sidebar that have something the account may see, as Unfold expects them."""
    overview = seen_by(request) if request.user.has_perm("designer.view_endpoint") else None
    groups = [_group(_("Studio"), _page_items(request, _START))]
    groups.append(_group(_MODULES[0], _model_items(request, _MODULES[1], overview)))
    if overview is not None:
        groups += module_groups(request, overview)
    groups += [_group(title, _model_items(request, models, overview)) for title, models in _MODELS]
    groups += [_group(title, _page_items(request, entries)) for title, entries in _TOOLS]
    groups.append(_group(_ACCOUNTS[0], _model_items(request, _ACCOUNTS[1], None)))
    return [group for group in groups if group["items"]]


def pages(request: HttpRequest) -> Iterator[tuple[str | Promise, str | Promise, str]]:
    """Yield group, title and address of every page that the account may open."""
    for group, entries in ((_("Studio"), _START), *_TOOLS):
        for title, _icon, name, permission in entries:
            if not permission or request.user.has_perm(permission):
                yield group, title, reverse(name)
    for group, models in (_MODULES, *_MODELS, _ACCOUNTS):
        for title, _icon, app, model in models:
            if link := _changelist(request, app, model):
                yield group, title, link


def additions(request: HttpRequest) -> Iterator[tuple[str, str, str]]:
    """Yield name, group and address of the page for adding each kind of object that the account may add."""
    for group, models in (_MODULES, *_MODELS, _ACCOUNTS):
        for _title, _icon, app, model in models:
            if link := _addition(request, app, model):
                yield str(apps.get_model(app, model)._meta.verbose_name), str(group), link


def _group(title: str | Promise, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"title": title, "items": items}


def _page_items(request: HttpRequest, entries: Iterable[Page]) -> list[dict[str, Any]]:
    items = []
    for title, icon, name, permission in entries:
        if permission and not request.user.has_perm(permission):
            continue
        link = reverse(name)
        active = request.path == link if name == "admin:index" else request.path.startswith(link)
        items.append({"title": title, "icon": icon, "link": link, "active": active})
    return items


def _model_items(request: HttpRequest, models: Any, overview: Overview | None) -> list[dict[str, Any]]:
    items = []
    for title, icon, app, model in models:
        if link := _changelist(request, app, model):
            item = {"title": title, "icon": icon, "link": link, "active": request.path.startswith(link)}
            if overview is not None:
                item |= {"count": _count(overview, model), "count_state": "plain"}
                item["add"] = _addition(request, app, model)
            items.append(item)
    return items


def _changelist(request: HttpRequest, app: str, model: str) -> str:
    """Return the address of a model's list; empty where the account may not see it, or there is none."""
    if not request.user.has_perm(f"{app}.view_{model}"):
        return ""
    try:
        return reverse(f"admin:{app}_{model}_changelist")
    except NoReverseMatch:
        return ""


def _addition(request: HttpRequest, app: str, model: str) -> str:
    """Return the address for adding an object; empty where the account may not, or nobody can by hand."""
    if not admin.site.is_registered(apps.get_model(app, model)):
        return ""
    registered = admin.site.get_model_admin(apps.get_model(app, model))
    if not registered.has_add_permission(request):
        return ""
    return reverse(f"admin:{app}_{model}_add")


def _count(overview: Overview, model: str) -> int:
    """Return how many objects of a model the configuration has. `model` is its lower-case name."""
    configuration = overview.configuration
    if model == "optionset":
        return sum(
            endpoint.definition.kind == OptionSet.KIND for endpoint in configuration.endpoints.values()
        )
    counted = {
        "callertype": configuration.caller_types,
        "userproperty": configuration.user_properties,
        "role": configuration.roles,
        "issuer": configuration.issuers,
        "module": configuration.modules,
        "exposedentity": configuration.entities,
        "endpoint": configuration.endpoints,
    }
    return len(counted[model])

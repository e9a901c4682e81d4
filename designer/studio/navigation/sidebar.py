"""The studio's tree: modules with their entities and endpoints, option sets, context, pages, accounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from designer.models import OptionSet
from designer.overview import Overview
from designer.studio.navigation.request_overview import overview_for
from designer.studio.navigation.tree import module_groups


class _Page(NamedTuple):
    """A page of the studio. `view` is its name in the URL conf; without `permission`, all may open it."""

    title: str | Promise
    icon: str
    view: str
    permission: str = ""


class _ModelList(NamedTuple):
    """The list of a model's rows. `app` and `model` are Django's labels of the model."""

    title: str | Promise
    icon: str
    app: str
    model: str


class _PageGroup(NamedTuple):
    """Pages that stand together in the sidebar under a title."""

    title: str | Promise
    pages: tuple[_Page, ...]


class _ListGroup(NamedTuple):
    """Lists that stand together in the sidebar under a title."""

    title: str | Promise
    lists: tuple[_ModelList, ...]


_START = _PageGroup(
    _("Studio"),
    (
        _Page(_("Dashboard"), "dashboard", "admin:index"),
        _Page(_("Expose an entity"), "add_circle", "studio:expose", "designer.add_endpoint"),
        _Page(_("New query"), "manage_search", "studio:new_query", "designer.add_endpoint"),
        _Page(_("Translations"), "translate", "studio:translations", "designer.view_endpoint"),
    ),
)
_TOOLS = (
    _PageGroup(
        _("Access"),
        (
            _Page(_("Permission matrix"), "grid_on", "studio:matrix", "designer.view_endpoint"),
            _Page(
                _("What may this caller do?"),
                "person_search",
                "studio:caller_rights",
                "designer.view_endpoint",
            ),
            _Page(_("Compare two roles"), "compare_arrows", "studio:compare_roles", "designer.view_endpoint"),
            _Page(_("View as"), "visibility", "studio:view_as", "designer.view_endpoint"),
        ),
    ),
    _PageGroup(
        _("Changes"),
        (
            _Page(_("Versions"), "history", "studio:versions", "designer.view_version"),
            _Page(_("Proposals"), "rate_review", "studio:proposals", "designer.view_proposal"),
            _Page(_("Protection"), "lock", "studio:protection", "designer.change_protection"),
            _Page(_("Releases"), "package_2", "studio:releases", "designer.view_release"),
            _Page(_("Export"), "download", "studio:export", "designer.view_endpoint"),
            _Page(_("Import"), "upload", "studio:import", "designer.import_configuration"),
            _Page(
                _("Environment values"),
                "tune",
                "admin:designer_environmentvalue_changelist",
                "designer.view_environmentvalue",
            ),
        ),
    ),
    _PageGroup(
        _("Operation"),
        (
            _Page(_("Usage"), "monitoring", "studio:usage", "designer.view_endpoint"),
            _Page(_("Attributes in use"), "data_object", "studio:attributes", "designer.view_endpoint"),
            _Page(_("Platform"), "speed", "studio:platform_budget", "designer.view_endpoint"),
            _Page(_("Audit log"), "receipt_long", "studio:audit", "designer.view_auditentry"),
        ),
    ),
)
_MODULES = _ListGroup(
    _("Modules"),
    (
        _ModelList(_("Modules"), "folder", "designer", "module"),
        _ModelList(_("Entities"), "table", "designer", "exposedentity"),
        _ModelList(_("All endpoints"), "api", "designer", "endpoint"),
    ),
)
_CONFIGURATION = (
    _ListGroup(_("Option sets"), (_ModelList(_("Global option sets"), "list_alt", "designer", "optionset"),)),
    _ListGroup(
        _("Context"),
        (
            _ModelList(_("Caller types"), "groups", "designer", "callertype"),
            _ModelList(_("User properties"), "badge", "designer", "userproperty"),
            _ModelList(_("Roles"), "shield_person", "designer", "role"),
            _ModelList(_("Issuers"), "fingerprint", "designer", "issuer"),
        ),
    ),
)
_ACCOUNTS = _ListGroup(
    _("Accounts"),
    (
        _ModelList(_("API accounts"), "key", "runtime", "apiaccount"),
        _ModelList(_("API keys"), "vpn_key", "runtime", "apikey"),
        # Registered where the setting PROPOSALS_API switches them on.
        _ModelList(_("Proposal keys"), "draw", "runtime", "proposalkey"),
        _ModelList(_("Studio accounts"), "person", "auth", "user"),
        _ModelList(_("Groups"), "group", "auth", "group"),
        _ModelList(_("Failed logins"), "lock_clock", "runtime", "failedlogins"),
        _ModelList(_("Refused callers"), "block", "runtime", "refusalcount"),
        _ModelList(_("Registrations"), "how_to_reg", "runtime", "registration"),
    ),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the sidebar that have something the account may see, as Unfold expects them."""
    overview = overview_for(request) if request.user.has_perm("designer.view_endpoint") else None
    groups = [_page_group(request, _START), _list_group(request, _MODULES, overview)]
    if overview is not None:
        modules = list(module_groups(request, overview))
        if any(item["active"] for group in modules for item in group["items"]):
            # The page at hand is marked where it stands in its module, and not at the list of all as well.
            for item in groups[-1]["items"]:
                item["active"] = False
        groups += modules
    groups += [_list_group(request, group, overview) for group in _CONFIGURATION]
    groups += [_page_group(request, group) for group in _TOOLS]
    groups.append(_list_group(request, _ACCOUNTS, None))
    return [group for group in groups if group["items"]]


class Destination(NamedTuple):
    """A page that somebody may go to, with the group of the sidebar that it belongs to."""

    group: str
    title: str
    link: str


def pages(request: HttpRequest) -> Iterator[Destination]:
    """Yield every page and list that the account may open."""
    for page_group in (_START, *_TOOLS):
        for page in page_group.pages:
            if _may_open(request, page):
                yield Destination(str(page_group.title), str(page.title), reverse(page.view))
    for list_group in (_MODULES, *_CONFIGURATION, _ACCOUNTS):
        for model_list in list_group.lists:
            if link := _address_of_list(request, model_list):
                yield Destination(str(list_group.title), str(model_list.title), link)


def additions(request: HttpRequest) -> Iterator[Destination]:
    """Yield the page for adding an object of each model of which the account may add one.

    The title is what one object is called, such as “role”.
    """
    for group in (_MODULES, *_CONFIGURATION, _ACCOUNTS):
        for model_list in group.lists:
            if link := _address_for_adding(request, model_list):
                what = str(apps.get_model(model_list.app, model_list.model)._meta.verbose_name)
                yield Destination(str(group.title), what, link)


def _page_group(request: HttpRequest, group: _PageGroup) -> dict[str, Any]:
    """Return a group of pages as Unfold expects it, without those that the account may not open."""
    items = []
    for page in group.pages:
        if _may_open(request, page):
            link = reverse(page.view)
            # Every address of the studio begins with that of the dashboard.
            active = request.path == link if page.view == "admin:index" else request.path.startswith(link)
            items.append({"title": page.title, "icon": page.icon, "link": link, "active": active})
    return {"title": group.title, "items": items}


def _may_open(request: HttpRequest, page: _Page) -> bool:
    return not page.permission or request.user.has_perm(page.permission)


def _list_group(request: HttpRequest, group: _ListGroup, overview: Overview | None) -> dict[str, Any]:
    """Return a group of lists as Unfold expects it, without those that the account may not see.

    With an overview, each list has the number of its rows and a link that adds one.
    """
    items = []
    for model_list in group.lists:
        if link := _address_of_list(request, model_list):
            active = request.path.startswith(link)
            item: dict[str, Any] = {
                "title": model_list.title,
                "icon": model_list.icon,
                "link": link,
                "active": active,
            }
            if overview is not None:
                item |= {"count": _count(overview, model_list.model), "count_state": "plain"}
                item["add"] = _address_for_adding(request, model_list)
            items.append(item)
    return {"title": group.title, "items": items}


def _address_of_list(request: HttpRequest, model_list: _ModelList) -> str:
    """Return the address of a model's list; empty where the account may not see it, or there is none."""
    if not request.user.has_perm(f"{model_list.app}.view_{model_list.model}"):
        return ""
    try:
        return reverse(f"admin:{model_list.app}_{model_list.model}_changelist")
    except NoReverseMatch:
        return ""


def _address_for_adding(request: HttpRequest, model_list: _ModelList) -> str:
    """Return the address for adding an object; empty where the account may not, or nobody can by hand."""
    model = apps.get_model(model_list.app, model_list.model)
    if not admin.site.is_registered(model):
        return ""
    if not admin.site.get_model_admin(model).has_add_permission(request):
        return ""
    return reverse(f"admin:{model_list.app}_{model_list.model}_add")


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

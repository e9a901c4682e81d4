"""The modules of the sidebar: entities and endpoints, each with its readiness."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from designer.configuration import Endpoint
from designer.kinds import Place as SchemaPlace
from designer.models import ExposedEntity, Module
from designer.overview import Overview
from designer.readiness import State
from designer.studio.navigation.badges import sign_of

# With more endpoints than this, a module shows those of the entity at hand only.
_MOST_ENDPOINTS = 40
_MOST_ENTITIES = 40
# With more endpoints than this in all, so does every module but the one at hand.
_MOST_IN_ALL = 150

# The segments of a module and of an exposed entity in it; the latter is empty for processes and queries.
Place = tuple[str, str]


class _Addresses(NamedTuple):
    """The addresses of the list of endpoints, and of the page that adds one (empty where nobody may).

    Found once: a sidebar has hundreds of items.
    """

    endpoints: str
    new_endpoint: str

    @classmethod
    def for_account(cls, request: HttpRequest) -> _Addresses:
        may_add = request.user.has_perm("designer.add_endpoint")
        new_endpoint = reverse("admin:designer_endpoint_add") if may_add else ""
        return cls(reverse("admin:designer_endpoint_changelist"), new_endpoint)

    def of(self, field: str, id: int) -> tuple[str, str]:
        """Return both for the endpoints of one module or exposed entity, which `field` says."""
        new_endpoint = f"{self.new_endpoint}?{field}={id}" if self.new_endpoint else ""
        return f"{self.endpoints}?{field}__id__exact={id}", new_endpoint


def module_groups(request: HttpRequest, overview: Overview) -> Iterator[dict[str, Any]]:
    """Yield a group of the sidebar for each module. The group of the page at hand is open."""
    addresses = _Addresses.for_account(request)
    places = _endpoints_by_place(overview)
    by_module: defaultdict[str, list[int]] = defaultdict(list)
    for (module, _exposure), endpoint_ids in places.items():
        by_module[module] += endpoint_ids
    entities = _entities_by_module()
    current_place = _place_at_hand(request, overview)
    current_module = None if current_place is None else current_place[0]
    # Where a page is about no module, the largest stands open: what is added most likely belongs there.
    largest = max(by_module, key=lambda module: len(by_module[module]), default="")
    open_module = largest if current_module is None else current_module
    shows_all = len(overview.configuration.endpoints) <= _MOST_IN_ALL
    for id, segment, title in Module.objects.values_list("id", "segment", "title"):
        ids = by_module[segment]
        shows_endpoints = len(ids) <= _MOST_ENDPOINTS and (shows_all or segment == current_module)
        link, add = addresses.of("module", id)
        items = [_item(request, _("Everything"), "folder_open", link, add, ids, overview)]
        for entity, exposure in entities[segment][:_MOST_ENTITIES]:
            place = (segment, exposure)
            items.append(
                _item(request, exposure, "table", *addresses.of("entity", entity), places[place], overview)
            )
            if shows_endpoints or place == current_place:
                items += _endpoint_items(request, places[place], overview)
        for label, icon, endpoint_ids in _without_entity(places[segment, ""], overview):
            items.append(_item(request, label, icon, link, "", endpoint_ids, overview))
            if shows_endpoints or (segment, "") == current_place:
                items += _endpoint_items(request, endpoint_ids, overview)
        yield {
            "title": title or segment,
            "collapsible": True,
            "open": segment == open_module or any(item["active"] for item in items),
            "items": items,
            **_count(ids, overview),
        }


def _endpoints_by_place(overview: Overview) -> defaultdict[Place, list[int]]:
    by_place: defaultdict[Place, list[int]] = defaultdict(list)
    for id, endpoint in overview.configuration.endpoints.items():
        if endpoint.definition.module:
            by_place[endpoint.definition.module, endpoint.definition.exposure].append(id)
    return by_place


def _without_entity(ids: list[int], overview: Overview) -> Iterator[tuple[str, str, list[int]]]:
    """Yield label, icon and endpoint ids for those of a module that have no entity: processes, queries."""
    kinds = {id: overview.configuration.endpoints[id].kind for id in ids}
    processes = [id for id in ids if kinds[id].place is SchemaPlace.ACTIONS]
    queries = [id for id in ids if kinds[id].place is not SchemaPlace.ACTIONS]
    if processes:
        yield _("Processes"), "bolt", processes
    if queries:
        yield _("Queries"), "manage_search", queries


def _entities_by_module() -> defaultdict[str, list[tuple[int, str]]]:
    by_module: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    rows = ExposedEntity.objects.order_by("module__segment", "segment")
    for id, module, segment in rows.values_list("id", "module__segment", "segment"):
        by_module[module].append((id, segment))
    return by_module


def _place_at_hand(request: HttpRequest, overview: Overview) -> Place | None:
    """Return the place of the page's endpoint in the tree; None for a page of anything else."""
    match = request.resolver_match
    number = match.kwargs.get("object_id", "") if match is not None else ""
    endpoint = overview.configuration.endpoints.get(int(number)) if str(number).isdecimal() else None
    if endpoint is None or match is None or "endpoint" not in str(match.url_name):
        return None
    return endpoint.definition.module, endpoint.definition.exposure


def _endpoint_items(request: HttpRequest, ids: Iterable[int], overview: Overview) -> list[dict[str, Any]]:
    items = []
    for id in ids:
        link = reverse("admin:designer_endpoint_change", args=[id])
        endpoint = overview.configuration.endpoints[id]
        items.append(
            {
                "title": _endpoint_title(endpoint, overview.states[id]),
                "link": link,
                "active": request.path == link,
            }
        )
    return items


def _endpoint_title(endpoint: Endpoint, state: State) -> SafeString:
    sign, word = sign_of(state)
    name = endpoint.definition.name
    return format_html(
        '<span class="studio-leaf" title="{path}: {word}">'
        '<span class="studio-sign studio-sign-{state}" role="img" aria-label="{word}">{sign}</span>'
        " {label}{name}</span>",
        path=endpoint.path,
        word=word,
        state=state.value,
        sign=sign,
        label=_(endpoint.kind.label),
        name=f": {name}" if name else "",
    )


def _item(
    request: HttpRequest, title: str, icon: str, link: str, add: str, ids: list[int], overview: Overview
) -> dict[str, Any]:
    """Return an item of the sidebar with the count of its endpoints (`ids`).

    `add` is the address of the page that adds an endpoint to it; empty: without such a link.
    """
    active = request.get_full_path() == link
    return {
        "title": title,
        "icon": icon,
        "link": link,
        "active": active,
        "add": add,
        **_count(ids, overview),
    }


def _count(ids: list[int], overview: Overview) -> dict[str, Any]:
    """Return how many endpoints there are; where some are blocked or degraded, how many of them, too."""
    states = Counter(overview.states[id] for id in ids)
    for state in (State.BLOCKED, State.DEGRADED):
        if states[state]:
            return {"count": f"{sign_of(state)[0]} {states[state]}/{len(ids)}", "count_state": state.value}
    return {"count": str(len(ids)), "count_state": "plain"}

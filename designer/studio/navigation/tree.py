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
from designer.studio.sent_numbers import sent_number

# With more endpoints than this, a module shows those of the entity at hand only.
_MOST_ENDPOINTS = 40
_MOST_ENTITIES = 40
# With more endpoints than this in all, every module but the one at hand shows none.
_MOST_IN_ALL = 150


class Place(NamedTuple):
    """Where an endpoint stands in the tree: the segments of its module and of its exposed entity.

    `exposure` is empty for processes and queries, which belong to no entity.
    """

    module: str
    exposure: str


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

    def narrowed(self, field: str, id: int) -> _Addresses:
        """Return both for the endpoints of one module or exposed entity. `field` is `module` or `entity`."""
        new_endpoint = f"{self.new_endpoint}?{field}={id}" if self.new_endpoint else ""
        return _Addresses(f"{self.endpoints}?{field}__id__exact={id}", new_endpoint)


def module_groups(request: HttpRequest, overview: Overview) -> Iterator[dict[str, Any]]:
    """Yield a group of the sidebar for each module. The group of the page at hand is open."""
    tree = _Tree(request, overview)
    open_module = tree.open_module()
    for id, segment, title in Module.objects.values_list("id", "segment", "title"):
        shown_title = title or segment
        items = list(tree.items(id, segment, shown_title))
        yield {
            "title": shown_title,
            "collapsible": True,
            "open": segment == open_module or any(item["active"] for item in items),
            "items": items,
            **_count(tree.ids_by_module[segment], overview),
        }


class _Tree:
    """The items of all modules, with what is found once for the whole sidebar."""

    def __init__(self, request: HttpRequest, overview: Overview) -> None:
        self._request, self._overview = request, overview
        self._addresses = _Addresses.for_account(request)
        self._entities = _entities_by_module()
        self._ids_by_place = _endpoints_by_place(overview)
        self.ids_by_module: defaultdict[str, list[int]] = defaultdict(list)
        for (module, _exposure), ids in self._ids_by_place.items():
            self.ids_by_module[module] += ids
        self._current_place = _place_of_page(request, overview)

    def open_module(self) -> str:
        """Return the module of the page at hand. A page of none opens the largest, where most is added."""
        if self._current_place is not None:
            return self._current_place.module
        return max(self.ids_by_module, key=lambda module: len(self.ids_by_module[module]), default="")

    def items(self, id: int, segment: str, title: str) -> Iterator[dict[str, Any]]:
        """Yield the items of a module: all of it, each entity, processes and queries. Endpoints stand below
        theirs.
        """
        request, overview = self._request, self._overview
        addresses = self._addresses.narrowed("module", id)
        ids = self.ids_by_module[segment]
        whole = _item(request, _("Everything"), "folder_open", addresses, ids, overview)
        yield whole | {"add_to": title}
        for entity, exposure in self._entities[segment][:_MOST_ENTITIES]:
            place = Place(segment, exposure)
            ids = self._ids_by_place[place]
            yield _item(request, exposure, "table", self._addresses.narrowed("entity", entity), ids, overview)
            yield from self._endpoints_at(place, ids)
        no_entity = Place(segment, "")
        # The page that adds an endpoint is linked once for the module, at its first item.
        without_adding = addresses._replace(new_endpoint="")
        for label, icon, ids in _groups_without_entity(self._ids_by_place[no_entity], overview):
            yield _item(request, label, icon, without_adding, ids, overview)
            yield from self._endpoints_at(no_entity, ids)

    def _endpoints_at(self, place: Place, ids: list[int]) -> list[dict[str, Any]]:
        """Return the items of endpoints at a place; none where the sidebar would get too long."""
        if place == self._current_place or self._shows_endpoints(place.module):
            return _endpoint_items(self._request, ids, self._overview)
        return []

    def _shows_endpoints(self, module: str) -> bool:
        if len(self.ids_by_module[module]) > _MOST_ENDPOINTS:
            return False
        is_current = self._current_place is not None and self._current_place.module == module
        return is_current or len(self._overview.configuration.endpoints) <= _MOST_IN_ALL


def _endpoints_by_place(overview: Overview) -> defaultdict[Place, list[int]]:
    """Return the row ids of endpoints by their place in the tree. Those of no module have none."""
    by_place: defaultdict[Place, list[int]] = defaultdict(list)
    for id, endpoint in overview.configuration.endpoints.items():
        if endpoint.definition.module:
            by_place[Place(endpoint.definition.module, endpoint.definition.exposure)].append(id)
    return by_place


def _groups_without_entity(ids: list[int], overview: Overview) -> Iterator[tuple[str, str, list[int]]]:
    """Yield label, icon and endpoint ids for those of a module that have no entity: processes, queries."""
    kinds = {id: overview.configuration.endpoints[id].kind for id in ids}
    processes = [id for id in ids if kinds[id].place is SchemaPlace.ACTIONS]
    queries = [id for id in ids if kinds[id].place is not SchemaPlace.ACTIONS]
    if processes:
        yield _("Processes"), "bolt", processes
    if queries:
        yield _("Queries"), "manage_search", queries


def _entities_by_module() -> defaultdict[str, list[tuple[int, str]]]:
    """Return row id and segment of each exposed entity, by the segment of its module."""
    by_module: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    rows = ExposedEntity.objects.order_by("module__segment", "segment")
    for id, module, segment in rows.values_list("id", "module__segment", "segment"):
        by_module[module].append((id, segment))
    return by_module


def _place_of_page(request: HttpRequest, overview: Overview) -> Place | None:
    """Return the place of the page's endpoint in the tree; None for a page of anything else."""
    match = request.resolver_match
    if match is None or "endpoint" not in str(match.url_name):
        return None
    id = sent_number(str(match.kwargs.get("object_id", "")))
    endpoint = None if id is None else overview.configuration.endpoints.get(id)
    if endpoint is None:
        return None
    return Place(endpoint.definition.module, endpoint.definition.exposure)


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
    # Of two that create records of an entity, one has a segment of its own.
    name = endpoint.definition.name or endpoint.definition.segment
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
    request: HttpRequest, title: str, icon: str, addresses: _Addresses, ids: list[int], overview: Overview
) -> dict[str, Any]:
    """Return an item of the sidebar, with the count of its endpoints (`ids`), as Unfold expects it."""
    link = addresses.endpoints
    active = request.get_full_path() == link
    return {
        "title": title,
        "icon": icon,
        "link": link,
        "active": active,
        "add": addresses.new_endpoint,
        **_count(ids, overview),
    }


def _count(ids: list[int], overview: Overview) -> dict[str, Any]:
    """Return how many endpoints there are; where some are blocked or degraded, how many of them, too."""
    states = Counter(overview.states[id] for id in ids)
    for state in (State.BLOCKED, State.DEGRADED):
        if states[state]:
            return {"count": f"{sign_of(state)[0]} {states[state]}/{len(ids)}", "count_state": state.value}
    return {"count": str(len(ids)), "count_state": "plain"}

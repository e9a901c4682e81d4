"""What the command palette finds: pages, endpoints, entities, roles, whatever the account may see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from designer.loading import latest
from designer.models import ExposedEntity, Module, Role, UserProperty
from designer.studio.navigation.sidebar import pages
from designer.studio.pages.base import StudioView

_MOST = 40


class PaletteEntries(StudioView):
    """The best matches for every word of `q`, as JSON."""

    http_method_names = ["get"]

    def has_permission(self) -> bool:
        return True

    def get(self, request: HttpRequest) -> JsonResponse:
        words = request.GET.get("q", "").casefold().split()
        found = [entry for entry in _entries(request) if entry.matches(words)]
        found.sort(key=lambda entry: not entry.begins_with(words))
        return JsonResponse({"entries": [entry.to_json() for entry in found[:_MOST]]})


class _Entry(NamedTuple):
    """`page` and `row` make the address, which costs more than all else: only what is shown has one."""

    title: str
    detail: str
    page: str
    row: int | None = None

    def matches(self, words: list[str]) -> bool:
        text = f"{self.title} {self.detail}".casefold()
        return all(word in text for word in words)

    def begins_with(self, words: list[str]) -> bool:
        return bool(words) and self.title.casefold().startswith(words[0])

    def to_json(self) -> dict[str, str]:
        link = self.page if self.row is None else reverse(self.page, args=[self.row])
        return {"title": self.title, "detail": self.detail, "link": link}


def _entries(request: HttpRequest) -> Iterator[_Entry]:
    for group, title, link in pages(request):
        yield _Entry(str(title), str(group), link)
    if request.user.has_perm("designer.view_endpoint"):
        yield from _endpoints()
    for model, what in ((ExposedEntity, "exposedentity"), (Module, "module"), (Role, "role")):
        if request.user.has_perm(f"designer.view_{what}"):
            yield from _rows(model, what)
    if request.user.has_perm("designer.view_userproperty"):
        yield from _rows(UserProperty, "userproperty")


def _endpoints() -> Iterator[_Entry]:
    for id, endpoint in latest().endpoints.items():
        methods = ", ".join(endpoint.methods)
        title = endpoint.definition.title
        detail = f"{_(endpoint.kind.label)}: {title}" if title else _(endpoint.kind.label)
        yield _Entry(f"{methods} {endpoint.path}", detail, "admin:designer_endpoint_change", id)


def _rows(model: Any, what: str) -> Iterator[_Entry]:
    rows = model.objects.select_related("module") if model is ExposedEntity else model.objects.all()
    for row in rows:
        yield _Entry(str(row), str(model._meta.verbose_name), f"admin:designer_{what}_change", row.pk)

"""The entries that the command palette finds: pages, endpoints, entities, roles that the account may see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from designer.kinds import KINDS
from designer.loading import latest
from designer.models import ExposedEntity, Module, Role, UserProperty
from designer.studio.navigation.sidebar import additions, pages
from designer.studio.pages.base import StudioView

_MOST = 40
# How like the right word a mistyped one is (as difflib measures it; 1 is the same).
_ALIKE = 0.7


class PaletteEntries(StudioView):
    """Answers with the entries that have every word of `q`, as JSON. Mistyped words are corrected."""

    http_method_names = ["get"]

    def has_permission(self) -> bool:
        return True

    def get(self, request: HttpRequest) -> JsonResponse:
        words = request.GET.get("q", "").casefold().split()
        entries = list(_entries(request))
        matches = [entry for entry in entries if entry.matches(words)]
        if not matches:
            words = _corrected(words, entries)
            matches = [entry for entry in entries if entry.matches(words)]
        matches.sort(key=lambda entry: not entry.begins_with(words))
        return JsonResponse({"entries": [entry.to_json() for entry in matches[:_MOST]]})


class _Entry(NamedTuple):
    """An entry. `page`, and `row` if it has one, make its address: that costs more than all else, so only
    entries that are shown get one.
    """

    title: str
    detail: str
    page: str
    row: int | None = None

    @property
    def text(self) -> str:
        return f"{self.title} {self.detail}".casefold()

    def matches(self, words: list[str]) -> bool:
        text = self.text
        return all(word in text for word in words)

    def begins_with(self, words: list[str]) -> bool:
        return bool(words) and self.title.casefold().startswith(words[0])

    def to_json(self) -> dict[str, str]:
        link = self.page if self.row is None else reverse(self.page, args=[self.row])
        return {"title": self.title, "detail": self.detail, "link": link}


def _corrected(words: list[str], entries: list[_Entry]) -> list[str]:
    """Return the words, with each that no entry has replaced by the entries' word that is most like it."""
    vocabulary = {word for entry in entries for word in re.findall(r"\w+", entry.text)}
    return [
        word
        if any(word in entry.text for entry in entries)
        else next(iter(get_close_matches(word, vocabulary, n=1, cutoff=_ALIKE)), word)
        for word in words
    ]


def _entries(request: HttpRequest) -> Iterator[_Entry]:
    for group, title, link in pages(request):
        yield _Entry(str(title), str(group), link)
    yield from _new_objects(request)
    if request.user.has_perm("designer.view_endpoint"):
        yield from _endpoints()
    for model, model_name in ((ExposedEntity, "exposedentity"), (Module, "module"), (Role, "role")):
        if request.user.has_perm(f"designer.view_{model_name}"):
            yield from _rows(model, model_name)
    if request.user.has_perm("designer.view_userproperty"):
        yield from _rows(UserProperty, "userproperty")


def _new_objects(request: HttpRequest) -> Iterator[_Entry]:
    """Yield an entry such as “New query” for each thing that the account may make."""
    for name, group, link in additions(request):
        yield _Entry(_("New %(what)s") % {"what": name}, group, link)
    if request.user.has_perm("designer.add_endpoint"):
        add = reverse("admin:designer_endpoint_add")
        for kind in KINDS.values():
            title = _("New %(what)s") % {"what": _(kind.label)}
            yield _Entry(title, _(kind.summary), f"{add}?kind={kind.name}")


def _endpoints() -> Iterator[_Entry]:
    for id, endpoint in latest().endpoints.items():
        methods = ", ".join(endpoint.methods)
        title = endpoint.definition.title
        detail = f"{_(endpoint.kind.label)}: {title}" if title else _(endpoint.kind.label)
        yield _Entry(f"{methods} {endpoint.path}", detail, "admin:designer_endpoint_change", id)


def _rows(model: Any, model_name: str) -> Iterator[_Entry]:
    rows = model.objects.select_related("module") if model is ExposedEntity else model.objects.all()
    for row in rows:
        yield _Entry(str(row), str(model._meta.verbose_name), f"admin:designer_{model_name}_change", row.pk)

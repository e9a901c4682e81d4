"""The entries that the command palette finds: pages, endpoints, entities, roles that the account may see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

from django.http import Http404, HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from designer.kinds import KINDS
from designer.loading import latest
from designer.models import ExposedEntity, Module, Role, UserProperty
from designer.studio.navigation.sidebar import additions, pages
from designer.studio.pages.base import StudioView

_MOST_ENTRIES = 40
# A mistyped word is at least so like the right one, as difflib measures it (1 is the same).
_LEAST_LIKENESS = 0.7


def no_search(request: HttpRequest) -> NoReturn:
    """Answer 404. Nothing links to Unfold's search, and it fails on every `page` that its results lack."""
    raise Http404


class PaletteEntries(StudioView):
    """Answers with the entries that have every word of `q`, as JSON. Mistyped words are corrected."""

    http_method_names = ["get"]

    def has_permission(self) -> bool:
        return True

    def get(self, request: HttpRequest) -> JsonResponse:
        words = request.GET.get("q", "").casefold().split()
        entries = list(_all_entries(request))
        matches = [entry for entry in entries if entry.matches(words)]
        if not matches:
            words = _with_corrections(words, entries)
            matches = [entry for entry in entries if entry.matches(words)]
        # False sorts before True: entries whose title begins with the first word come first.
        matches.sort(key=lambda entry: not entry.begins_with(words))
        return JsonResponse({"entries": [entry.to_json() for entry in matches[:_MOST_ENTRIES]]})


class _Entry(NamedTuple):
    """An entry of the palette: its title, and a detail beside it.

    `page` is an address or, with the id of a `row`, the name of a view in the URL conf. `reverse` costs more
    than all else here, so it is only called for entries that are shown.
    """

    title: str
    detail: str
    page: str
    row: int | None = None

    @property
    def text(self) -> str:
        """Return the text that words are searched in, in lower case."""
        return f"{self.title} {self.detail}".casefold()

    def matches(self, words: list[str]) -> bool:
        text = self.text
        return all(word in text for word in words)

    def begins_with(self, words: list[str]) -> bool:
        return bool(words) and self.title.casefold().startswith(words[0])

    def to_json(self) -> dict[str, str]:
        link = self.page if self.row is None else reverse(self.page, args=[self.row])
        return {"title": self.title, "detail": self.detail, "link": link}


def _with_corrections(words: list[str], entries: list[_Entry]) -> list[str]:
    """Return the words. One that no entry has is replaced by the most similar word of the entries, if any."""
    vocabulary = {word for entry in entries for word in re.findall(r"\w+", entry.text)}
    return [
        word
        if any(word in entry.text for entry in entries)
        else next(iter(get_close_matches(word, vocabulary, n=1, cutoff=_LEAST_LIKENESS)), word)
        for word in words
    ]


def _all_entries(request: HttpRequest) -> Iterator[_Entry]:
    """Yield the entries for everything that the account may see or add."""
    for page in pages(request):
        yield _Entry(page.title, page.group, page.link)
    yield from _new_objects(request)
    if request.user.has_perm("designer.view_endpoint"):
        yield from _endpoint_entries()
    for model in (ExposedEntity, Module, Role, UserProperty):
        if request.user.has_perm(f"designer.view_{model._meta.model_name}"):
            yield from _row_entries(model)


def _new_objects(request: HttpRequest) -> Iterator[_Entry]:
    """Yield an entry such as “New query” for each thing that the account may make."""
    for addition in additions(request):
        yield _Entry(_("New %(what)s") % {"what": addition.title}, addition.group, addition.link)
    if request.user.has_perm("designer.add_endpoint"):
        add = reverse("admin:designer_endpoint_add")
        for kind in KINDS.values():
            title = _("New %(what)s") % {"what": _(kind.label)}
            yield _Entry(title, _(kind.summary), f"{add}?kind={kind.name}")


def _endpoint_entries() -> Iterator[_Entry]:
    for id, endpoint in latest().endpoints.items():
        title = endpoint.definition.title
        detail = f"{_(endpoint.kind.label)}: {title}" if title else _(endpoint.kind.label)
        yield _Entry(endpoint.methods_and_path, detail, "admin:designer_endpoint_change", id)


def _row_entries(model: Any) -> Iterator[_Entry]:
    """Yield an entry for each row of a model, by its name."""
    # The name of an exposed entity begins with that of its module: without the join, each row costs a query.
    rows = model.objects.select_related("module") if model is ExposedEntity else model.objects.all()
    page = f"admin:designer_{model._meta.model_name}_change"
    for row in rows:
        yield _Entry(str(row), str(model._meta.verbose_name), page, row.pk)

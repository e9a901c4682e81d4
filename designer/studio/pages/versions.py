"""Versions: the list of them, and the page of one with its differences and the ways back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.problems import DocumentError
from designer.history.reading import describe, read_changes
from designer.history.recording import Origin, record_outside
from designer.history.restoring import document_at, plan_to, restore, restore_item
from designer.history.write_access import WriteAccessRefused
from designer.models import AuditEntry, ItemChange, Version
from designer.sentences import said
from designer.studio.hidden_lists import hidden_from, seen_lines
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.saving.authors import author_of

_PER_PAGE = 30
# Changes of one version in the list; its page has all of them.
_FEW = 3
# An import may change thousands of items.
_MOST = 200


class VersionsPage(StudioPage):
    title = gettext_lazy("Versions")
    permission_required = "designer.view_version"
    template_name = "designer/pages/versions.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        record_outside()
        collection, key = self.request.GET.get("list", ""), self.request.GET.get("key", "")
        page = Paginator(self._versions(collection, key), _PER_PAGE).get_page(self.request.GET.get("page"))
        shown = {version.pk: version for version in page.object_list}
        return super().get_context_data(
            **kwargs,
            page=page,
            of=describe(collection, key) if key else "",
            filter={"list": collection, "key": key} if key else {},
            versions=[(version, *self._few(version, collection, key)) for version in shown.values()],
        )

    def _versions(self, collection: str, key: str) -> QuerySet[Version]:
        versions = Version.objects.prefetch_related("changes")
        if not key:
            return versions
        changes = ItemChange.objects.filter(collection=collection, key=key)
        changes = changes.exclude(collection__in=hidden_from(self.request))
        return versions.filter(pk__in=changes.values("version"))

    def _few(self, version: Version, collection: str, key: str) -> tuple[list[Any], int]:
        hidden = hidden_from(self.request)
        changes = [
            change
            for change in version.changes.all()
            if change.collection not in hidden
            and (not key or (change.collection, change.key) == (collection, key))
        ]
        return read_changes(changes[:_FEW]), max(0, len(changes) - _FEW)


class VersionPage(StudioPage):
    permission_required = "designer.view_version"
    template_name = "designer/pages/version.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [Crumb(gettext_lazy("Versions"), reverse("studio:versions"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        version = get_object_or_404(Version, pk=self.kwargs["pk"])
        changes = version.changes.exclude(collection__in=hidden_from(self.request))
        plan, problems = _plan_to(version.pk, self.request)
        return super().get_context_data(
            **{
                "title": _("Version %(number)s") % {"number": version.pk},
                "version": version,
                "changes": read_changes(changes[:_MOST]),
                "more": max(0, changes.count() - _MOST),
                "plan": plan,
                "problems": problems,
                "may_restore": self.request.user.has_perm("designer.restore"),
                # What was there before versions began was made by nobody, and is nobody's to undo.
                "may_undo": version.origin != Origin.START,
                **kwargs,
            }
        )


def _plan_to(version: int, request: HttpRequest) -> tuple[list[str], Sequence[str]]:
    """What restoring would do, as lines; or why it cannot be done."""
    try:
        return list(seen_lines(plan_to(document_at(version)), request)), ()
    except DocumentError as error:
        return [], error.problems


class RestoreVersion(StudioView):
    """The whole configuration as a version left it, or one item as it was before or after it."""

    permission_required = "designer.restore"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        version = get_object_or_404(Version, pk=pk)
        author = author_of(request, Origin.RESTORE, _("Back to version %(number)s") % {"number": pk})
        back = HttpResponseRedirect(reverse("studio:version", args=[pk]))
        try:
            if "change" in request.POST:
                what, changed = self._restore_item(request, version, author)
            else:
                what, changed = gettext_lazy("the whole configuration"), restore(document_at(pk), author)
        except (DocumentError, WriteAccessRefused) as error:
            for problem in error.problems:
                messages.error(request, said(problem))
            return back
        if changed.does_nothing:
            messages.info(request, _("It is so already: nothing had to be changed."))
            return back
        note(request, AuditEntry.Action.RESTORE, what, f"version {pk}")
        messages.success(request, _("Restored: %(what)s.") % {"what": what})
        return HttpResponseRedirect(reverse("studio:versions"))

    def _restore_item(self, request: HttpRequest, version: Version, author: Any) -> tuple[object, Any]:
        number = request.POST["change"]
        if not number.isdigit():
            raise Http404
        seen = version.changes.exclude(collection__in=hidden_from(request))
        change = get_object_or_404(seen, pk=number)
        content = change.before if request.POST.get("to") == "before" else change.after
        planned = restore_item(change.collection, change.key, content, author)
        # Said to who restores it, and in the log.
        return lazy(describe, str)(change.collection, change.key), planned

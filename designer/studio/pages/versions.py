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
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.problems import DocumentError
from designer.history.readable_versions import describe, read_changes
from designer.history.recording import Origin, record_outside
from designer.history.refused_changes import ChangeRefused
from designer.history.restoration import document_at, plan_to, restore, restore_item
from designer.models import AuditEntry, ItemChange, Version
from designer.sentences import said
from designer.studio.hidden_lists import hidden_from, seen_lines
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import proposed, tell_refused
from designer.studio.saving.undo_offers import may_undo, say_done, undoable

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
        """Return the first changes of a version that the account may see, and how many more there are."""
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
        can_undo = undoable(version)
        offered = [
            (change, can_undo and may_undo(self.request, [change.change]))
            for change in read_changes(changes[:_MOST])
        ]
        plan, problems = _plan_to(version.pk, self.request)
        return super().get_context_data(
            **{
                "title": _("Version %(number)s") % {"number": version.pk},
                "version": version,
                "changes": offered,
                "may_undo_some": any(is_offered for _, is_offered in offered),
                "more": max(0, changes.count() - _MOST),
                "plan": plan,
                "problems": problems,
                "may_restore": self.request.user.has_perm("designer.restore"),
                "can_undo": can_undo,
                "may_undo_all": can_undo and may_undo(self.request, version.changes.all()),
                **kwargs,
            }
        )


def _plan_to(version: int, request: HttpRequest) -> tuple[list[str], Sequence[str]]:
    """Return the effects of restoring a version as lines, or why it cannot be restored."""
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
        change = _change(request, version) if "change" in request.POST else None
        is_before = change is not None and request.POST.get("to") == "before"
        description = _went_back(version, change, is_before=is_before)
        author = author_of(request, Origin.RESTORE, description)
        back = HttpResponseRedirect(reverse("studio:version", args=[pk]))
        try:
            if change is None:
                restored = restore(document_at(pk), author)
            else:
                content = change.before if is_before else change.after
                restored = restore_item(change.collection, change.key, content, author)
        except ChangeRefused as refused:
            if opened := proposed(request, refused, description):
                return opened
            tell_refused(request, refused)
            return back
        except DocumentError as error:
            for problem in error.problems:
                messages.error(request, said(problem))
            return back
        if restored.plan.does_nothing:
            messages.info(request, _("Nothing was changed: everything is like that already."))
            return back
        note(request, AuditEntry.Action.RESTORE, lazy(_restored, str)(change), f"version {pk}")
        say_done(request, f"{description}.", restored.version)
        return HttpResponseRedirect(reverse("studio:versions"))


def _change(request: HttpRequest, version: Version) -> ItemChange:
    """The one that is to be restored. Raises Http404."""
    number = request.POST["change"]
    if not number.isdecimal():
        raise Http404
    visible = version.changes.exclude(collection__in=hidden_from(request))
    return get_object_or_404(visible, pk=number)


def _restored(change: ItemChange | None) -> str:
    return _("the whole configuration") if change is None else describe(change.collection, change.key)


def _went_back(version: Version, change: ItemChange | None, *, is_before: bool) -> str:
    """Return a sentence about what has been restored, and to what."""
    if change is None:
        return _("The whole configuration went back to version %(number)s") % {"number": version.pk}
    values = {"what": capfirst(describe(change.collection, change.key)), "number": version.pk}
    if not is_before:
        return _("%(what)s went back to version %(number)s") % values
    if change.before is None:
        return _("%(what)s was removed: version %(number)s had added it") % values
    return _("%(what)s went back to before version %(number)s") % values

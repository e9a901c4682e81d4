"""Versions: the list of them, and the page of one with its differences and the ways back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from designer.documents.judgement import Judgement
from designer.documents.problems import DocumentError
from designer.history.readable_versions import ReadChange, describe, describe_to_all, read_changes
from designer.history.recording import Origin, record_outside
from designer.history.restoration import document_at, plan_to, restore, restore_item
from designer.models import AuditEntry, ItemChange, Version
from designer.studio.hidden_lists import hidden_from, visible_lines
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.ways_back import try_way_back
from designer.studio.saving.authors import author_of
from designer.studio.saving.undo_offers import may_undo, say_done, undoable
from designer.studio.sent_numbers import sent_number

_PER_PAGE = 30
# Changes of one version that the list shows.
_MOST_IN_LIST = 3
# Changes that the page of a version shows. An import may change thousands of items.
_MOST_ON_PAGE = 200


class VersionsPage(StudioPage):
    """The list of versions, or of those that changed the item in the address (`list` and `key`)."""

    title = gettext_lazy("Versions")
    permission_required = "designer.view_version"
    template_name = "designer/pages/versions.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # What was changed outside the studio is in the list, too.
        record_outside()
        collection, key = self.request.GET.get("list", ""), self.request.GET.get("key", "")
        page = Paginator(self._versions(collection, key), _PER_PAGE).get_page(self.request.GET.get("page"))
        return super().get_context_data(
            **kwargs,
            page=page,
            of=describe(collection, key) if key else "",
            filter={"list": collection, "key": key} if key else {},
            versions=[
                (version, *self._first_changes(version, collection, key)) for version in page.object_list
            ],
        )

    def _versions(self, collection: str, key: str) -> QuerySet[Version]:
        """Return the versions that changed an item; all versions for an empty key.

        There are none for an item that the account may not see.
        """
        versions = Version.objects.prefetch_related("changes")
        if not key:
            return versions
        changes = ItemChange.objects.filter(collection=collection, key=key)
        changes = changes.exclude(collection__in=hidden_from(self.request))
        return versions.filter(pk__in=changes.values("version"))

    def _first_changes(self, version: Version, collection: str, key: str) -> tuple[list[Any], int]:
        """Return the first changes of a version that the account may see, and how many more there are.

        With a key, only changes of that item count.
        """
        hidden = hidden_from(self.request)
        changes = [
            change
            for change in version.changes.all()
            if change.collection not in hidden
            and (not key or (change.collection, change.key) == (collection, key))
        ]
        return read_changes(changes[:_MOST_IN_LIST]), max(0, len(changes) - _MOST_IN_LIST)


class VersionPage(StudioPage):
    """One version: its changes, and what going back to it would change."""

    permission_required = "designer.view_version"
    template_name = "designer/pages/version.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [Crumb(gettext_lazy("Versions"), reverse("studio:versions"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        version = get_object_or_404(Version, pk=self.kwargs["pk"])
        changes = version.changes.exclude(collection__in=hidden_from(self.request))
        can_undo = undoable(version)
        shown = read_changes(changes[:_MOST_ON_PAGE])
        changed_later = _changed_later(version, [change.change for change in shown])
        # Each change; whether the account may undo it; and whether a later version changed its item again.
        offered = [
            (
                change,
                can_undo and may_undo(self.request, [change.change]),
                (change.change.collection, change.change.key) in changed_later,
            )
            for change in shown
        ]
        plan, problems = _lines_and_problems(version.pk, self.request)
        return super().get_context_data(
            **{
                "title": _("Version %(number)s") % {"number": version.pk},
                "version": version,
                "changes": offered,
                "may_undo_some": any(is_offered and is_later for _, is_offered, is_later in offered),
                "more": max(0, changes.count() - _MOST_ON_PAGE),
                "plan": plan,
                "problems": problems,
                "may_restore": self.request.user.has_perm("designer.restore"),
                "can_undo": can_undo,
                "may_undo_all": can_undo and may_undo(self.request, version.changes.all()),
                **kwargs,
            }
        )


def _changed_later(version: Version, changes: Iterable[ItemChange]) -> set[tuple[str, str]]:
    """Return the collection and key of the items in `changes` that later versions have changed again."""
    keys = {change.key for change in changes}
    later = ItemChange.objects.filter(version__gt=version.pk, key__in=keys)
    return set(later.values_list("collection", "key"))


def _lines_and_problems(version: int, request: HttpRequest) -> tuple[list[str], Sequence[str]]:
    """Return the changes that restoring a version would make, as lines, and why it cannot be restored.

    There are no lines if there are problems. The lines leave out what the account may not see.
    """
    try:
        return list(visible_lines(plan_to(document_at(version)), request)), ()
    except DocumentError as error:
        return [], error.problems


class RestoreVersion(StudioView):
    """Restores the whole configuration as a version left it, or one item as it was before or after it.

    `change` is the row id of the item's change, and `to=before` says which of the two.
    """

    permission_required = "designer.restore"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        version = get_object_or_404(Version, pk=pk)
        change = _change_to_restore(request, version) if "change" in request.POST else None
        is_before = change is not None and request.POST.get("to") == "before"
        description = _description(version, change, _name_of_restored(change), is_before=is_before)
        note_to_all = _description(version, change, _name_to_all(change), is_before=is_before)
        author = author_of(request, Origin.RESTORE, note_to_all)
        page = reverse("studio:version", args=[pk])

        def restore_it(confirmed: str) -> Judgement:
            """Restore the configuration or the item. Raises what `restore` raises."""
            if change is None:
                return restore(document_at(pk), author, confirmed)
            content = change.before if is_before else change.after
            return restore_item(change.collection, change.key, content, author, confirmed)

        restored = try_way_back(
            request,
            restore_it,
            title=note_to_all,
            what=_intention(version, change, is_before=is_before),
            page=page,
        )
        if not isinstance(restored, Judgement):
            return restored
        if restored.plan.does_nothing:
            messages.info(request, _("Nothing was changed: everything is like that already."))
            return HttpResponseRedirect(page)
        # Lazy: `note` reads it in English, whatever language the user reads.
        note(request, AuditEntry.Action.RESTORE, lazy(_name_of_restored, str)(change), f"version {pk}")
        say_done(request, f"{description}.", restored.version)
        return HttpResponseRedirect(reverse("studio:versions"))


def _change_to_restore(request: HttpRequest, version: Version) -> ItemChange:
    """Return the change of the version that is to be restored.

    Raises Http404, also for a hidden one, and for an item that cannot be put back by itself.
    """
    visible = version.changes.exclude(collection__in=hidden_from(request))
    change = get_object_or_404(visible, pk=sent_number(request.POST["change"]))
    if not ReadChange(change).is_restorable:
        raise Http404
    return change


def _name_of_restored(change: ItemChange | None) -> str:
    """Return the name of the restored item; None stands for the whole configuration."""
    return _("the whole configuration") if change is None else describe(change.collection, change.key)


def _name_to_all(change: ItemChange | None) -> str:
    """Return `_name_of_restored` for the note of the version, which others read, too."""
    return _name_of_restored(None) if change is None else describe_to_all(change.collection, change.key)


def _intention(version: Version, change: ItemChange | None, *, is_before: bool) -> str:
    """Return what somebody is about to do, in a sentence without a full stop. Otherwise as `_description`."""
    values = {"what": _name_of_restored(change), "number": version.pk}
    if is_before:
        return _("Back to before version %(number)s: %(what)s") % values
    return _("Back to version %(number)s: %(what)s") % values


def _description(version: Version, change: ItemChange | None, name: str, *, is_before: bool) -> str:
    """Return a sentence, without a full stop, about what is restored (`name`) and to which version.

    `change` is None for the whole configuration. `is_before`: the item goes back to what it was before it.
    """
    if change is None:
        return _("The whole configuration went back to version %(number)s") % {"number": version.pk}
    values = {"what": capfirst(name), "number": version.pk}
    if not is_before:
        return _("%(what)s went back to version %(number)s") % values
    if change.before is None:
        return _("%(what)s was removed: version %(number)s had added it") % values
    return _("%(what)s went back to before version %(number)s") % values

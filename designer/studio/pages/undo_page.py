"""Undo: revert one version, or one change of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.functional import lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.judgement import Judgement
from designer.history.readable_versions import describe, describe_to_all
from designer.history.recording import Origin
from designer.history.undo import Undoing
from designer.models import AuditEntry, ItemChange, Version
from designer.studio.pages.base import Crumb, StudioView
from designer.studio.pages.ways_back import try_way_back
from designer.studio.saving.authors import author_of
from designer.studio.saving.undo_offers import may_undo, say_done, undoable
from designer.studio.sent_numbers import sent_number

# Items of one version that a message names.
_FEW = 3


class Undo(StudioView):
    """Undoes a version, or one of its changes."""

    permission_required = "designer.view_version"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponseBase:
        version, changes = _changes_to_undo(request)
        if not undoable(version) or not may_undo(request, changes):
            raise PermissionDenied
        back = _page_afterwards(request, version, changes)
        description = _note_of_undo(version, changes)
        author = author_of(request, Origin.RESTORE, description)
        undone = try_way_back(
            request,
            lambda confirmed: Undoing.of(changes).make(author, confirmed=confirmed),
            title=description,
            what=_("Undo: %(what)s") % {"what": _names_of_changes(changes)},
            page=back,
            crumbs=[
                Crumb(gettext_lazy("Versions"), reverse("studio:versions")),
                Crumb(
                    _("Version %(number)s") % {"number": version.pk},
                    reverse("studio:version", args=[version.pk]),
                ),
            ],
        )
        if not isinstance(undone, Judgement):
            return undone
        if undone.plan.does_nothing:
            messages.info(request, _("Nothing to undo: the change has no effect any more."))
        else:
            # Lazy: `note` reads it in English, whatever language the user reads.
            names = lazy(_names_of_changes, str)(changes)
            note(request, AuditEntry.Action.RESTORE, names, f"undid version {version.pk}")
            text = _("Version %(number)s undone: %(what)s.") % {
                "number": version.pk,
                "what": _names_of_changes(changes),
            }
            say_done(request, text, undone.version)
        return HttpResponseRedirect(back)


def _changes_to_undo(request: HttpRequest) -> tuple[Version, Sequence[ItemChange]]:
    """Return the version, and those of its changes that the request wants to undo.

    The request names one `change` by its row id, or a `version` for all its changes. Raises Http404.
    """
    number, change = request.POST.get("version", ""), request.POST.get("change", "")
    if change:
        item_changes = ItemChange.objects.select_related("version")
        item_change = get_object_or_404(item_changes, pk=sent_number(change))
        return item_change.version, [item_change]
    version = get_object_or_404(Version, pk=sent_number(number))
    return version, list(version.changes.all())


def _note_of_undo(version: Version, changes: Sequence[ItemChange]) -> str:
    """Return the note of the new version that the undo makes, which everybody reads: what it undoes."""
    values = {"number": version.pk, "what": _names_of_changes(changes, describe_to_all)}
    return _("Undid version %(number)s: %(what)s") % values


def _names_of_changes(changes: Sequence[ItemChange], name_of: Callable[[str, str], str] = describe) -> str:
    """Return the names of the first changed items, and how many more there are."""
    first_names = ", ".join(name_of(change.collection, change.key) for change in changes[:_FEW])
    more = len(changes) - _FEW
    if more <= 0:
        return first_names
    return _("%(names)s, and %(count)d more") % {"names": first_names, "count": more}


def _page_afterwards(request: HttpRequest, version: Version, changes: Sequence[ItemChange]) -> str:
    """Return the address of the page that had the button, or that of the version.

    The version's is taken where the other page is of another site, and where the undo removes an item: the
    other page might be about that item.
    """
    came_from = request.POST.get("back") or request.headers.get("Referer", "")
    hosts = {request.get_host()}
    is_ours = url_has_allowed_host_and_scheme(came_from, hosts, require_https=request.is_secure())
    if is_ours and all(change.before is not None for change in changes):
        return came_from
    return reverse("studio:version", args=[version.pk])

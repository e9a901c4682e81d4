"""Releases: the list, making one, and the page of one with its changelog and the way back to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.document_reader import read
from designer.documents.judgement import Judgement
from designer.documents.problems import DocumentError
from designer.history.recording import Origin
from designer.history.restoration import plan_to, restore
from designer.models import AuditEntry, Release
from designer.releases.next_release import Proposal as ProposedRelease
from designer.releases.next_release import propose
from designer.studio.hidden_lists import hidden_from, text_without_hidden, visible_lines
from designer.studio.look import dress
from designer.studio.pages.base import Crumb, StudioPage, StudioView
from designer.studio.pages.ways_back import try_way_back
from designer.studio.saving.authors import author_of
from designer.studio.saving.undo_offers import say_done

_PER_PAGE = 30
# Without its link: addresses are not known yet while modules are imported.
_CRUMB = Crumb(gettext_lazy("Releases"), "")


class ReleaseForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Release
        fields = ("major", "minor", "name", "changelog")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            dress(field)
        self.fields["changelog"].widget.attrs["rows"] = 8


class ReleasesPage(StudioPage):
    """The list of releases, the newest first."""

    title = gettext_lazy("Releases")
    permission_required = "designer.view_release"
    template_name = "designer/pages/releases.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # Documents are large, and the list does not show them.
        releases = Release.objects.defer("document")
        page = Paginator(releases, _PER_PAGE).get_page(self.request.GET.get("page"))
        may_add = self.request.user.has_perm("designer.add_release")
        return super().get_context_data(**kwargs, page=page, may_add=may_add)


class NewReleasePage(StudioPage):
    """The form of the next release, with a number and a changelog proposed; makes the release."""

    title = gettext_lazy("New release")
    permission_required = "designer.add_release"
    template_name = "designer/pages/release_form.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [_CRUMB._replace(link=reverse("studio:releases"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # The form was sent, and is shown with what was typed or with the problems.
        if "form" in kwargs or "problems" in kwargs:
            return super().get_context_data(**kwargs)
        try:
            proposal = propose()
        except DocumentError as error:
            return super().get_context_data(problems=error.problems)
        major, minor = proposal.number
        initial = {"major": major, "minor": minor, "changelog": proposal.changelog()}
        return super().get_context_data(form=ReleaseForm(initial=initial), **self._shown(proposal))

    def _shown(self, proposal: ProposedRelease) -> dict[str, Any]:
        """Return what the page shows of the proposed release, without what the account may not see."""
        return {
            "proposal": proposal,
            "differences": proposal.differences_without(hidden_from(self.request)),
        }

    def post(self, request: HttpRequest) -> HttpResponseBase:
        try:
            try:
                return self._make_release(request)
            except IntegrityError:
                # The form was sent twice at once, and both found the number free. Now it is taken.
                return self._make_release(request)
        except DocumentError as error:
            return self.show_again(problems=error.problems)

    # In a transaction: nobody changes the configuration between its reading and the release.
    @transaction.atomic
    def _make_release(self, request: HttpRequest) -> HttpResponseBase:
        """Make a release of the configuration as it is now, and return the redirect to its page.

        Return the form again if it is not valid. Raises IntegrityError if the release's number is taken.
        """
        proposal = propose()
        form = ReleaseForm(request.POST)
        if not form.is_valid():
            return self.show_again(form=form, **self._shown(proposal))
        release = proposal.release(**form.cleaned_data, account=request.user.get_username())
        release.save()
        note(request, AuditEntry.Action.RELEASE, release)
        messages.success(request, _("Release %(release)s is made.") % {"release": release})
        return HttpResponseRedirect(reverse("studio:release", args=[release.pk]))


class ReleasePage(StudioPage):
    """One release: its changelog, and what going back to it would change."""

    permission_required = "designer.view_release"
    template_name = "designer/pages/release.html"

    def crumbs(self) -> Sequence[Crumb]:
        return [_CRUMB._replace(link=reverse("studio:releases"))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        release = get_object_or_404(Release, pk=self.kwargs["pk"])
        plan, problems = _lines_and_problems(release, self.request)
        return super().get_context_data(
            **{
                "title": _("Release %(release)s") % {"release": release},
                "release": release,
                "plan": plan,
                "problems": problems,
                "may_restore": self.request.user.has_perm("designer.restore"),
                **kwargs,
            }
        )


class RestoreRelease(StudioView):
    """Makes the configuration what it was in a release, or opens a proposal of that."""

    permission_required = "designer.restore"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        release = get_object_or_404(Release, pk=pk)
        author = author_of(request, Origin.RESTORE, _("Back to release %(release)s") % {"release": release})
        page = reverse("studio:release", args=[pk])
        restored = try_way_back(
            request,
            lambda confirmed: restore(read(release.document.encode()), author, confirmed),
            title=author.note,
            what=author.note,
            page=page,
        )
        if not isinstance(restored, Judgement):
            return restored
        if restored.plan.does_nothing:
            messages.info(request, _("Nothing was changed: everything is like that already."))
        else:
            note(request, AuditEntry.Action.RESTORE, release)
            say_done(
                request, _("Release %(release)s is served now.") % {"release": release}, restored.version
            )
        return HttpResponseRedirect(page)


class ReleaseDocument(StudioView):
    """The configuration of a release, as a file."""

    permission_required = "designer.view_release"
    http_method_names = ["get"]

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        release = get_object_or_404(Release, pk=pk)
        note(request, AuditEntry.Action.EXPORT, release)
        name = f"portico-{release.number}.json"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        document = text_without_hidden(release.document, request)
        return HttpResponse(document, content_type="application/json", headers=headers)


def _lines_and_problems(release: Release, request: HttpRequest) -> tuple[list[str], Sequence[str]]:
    """Return the changes that restoring a release would make, as lines, and why it cannot be restored.

    There are no lines if there are problems. The lines leave out what the account may not see.
    """
    try:
        return list(visible_lines(plan_to(read(release.document.encode())), request)), ()
    except DocumentError as error:
        return [], error.problems

"""Import: a document's plan first, then the import itself, all or nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from designer.audit import note
from designer.documents.document_reader import LARGEST_DOCUMENT
from designer.documents.document_writer import export
from designer.documents.judgement import Judgement, Refused
from designer.documents.plan import plan
from designer.documents.problems import DocumentError
from designer.endpoint_calls import DAYS
from designer.history.recording import Origin
from designer.history.refused_changes import ChangeRefused
from designer.history.restoration import all_groups
from designer.imports.document_import import Source, import_document, preview_source
from designer.imports.import_report import ImportReport, report_on
from designer.loading import latest
from designer.models import AuditEntry
from designer.proposals.new_proposals import open_source
from designer.readiness import Finding
from designer.studio.pages.base import StudioPage
from designer.studio.saving.authors import WHY, author_of
from designer.studio.saving.refused_as_proposal import asks_for_proposal, may_open
from designer.studio.saving.undo_offers import say_done

# What somebody has to type before a group's items are removed.
_TYPED = "remove-"


@dataclass(frozen=True, slots=True)
class Trial:
    """What importing a document would do. `removable` counts, by group, what it lacks."""

    digest: str
    removable: Mapping[str, int]
    judged: Judgement
    report: ImportReport

    @property
    def lines(self) -> Sequence[str]:
        return tuple(self.judged.plan.lines())

    @property
    def refusals(self) -> Sequence[str]:
        return tuple(self.judged.sentences())

    @property
    def only_calls_fail(self) -> bool:
        """Whether nothing but example calls stands against the import."""
        return not self.judged.is_acceptable() and self.judged.is_acceptable(allow_failing_calls=True)

    @property
    def warnings(self) -> Sequence[Finding]:
        return tuple(finding for finding in self.judged.findings if not finding.is_blocking)


class ImportPage(StudioPage):
    title = gettext_lazy("Import")
    permission_required = "designer.import_configuration"
    template_name = "designer/pages/import.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        usual = {"largest": LARGEST_DOCUMENT // 2**20, "days": DAYS, "may_propose": may_open(self.request)}
        return super().get_context_data(**{**usual, **kwargs})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        try:
            raw = _uploaded(request.FILES.get("document"))
            delete = _confirmed(request)
            if asks_for_proposal(request):
                return _open(request, Source.of_document(raw, delete))
            # What is imported is what the plan was shown of.
            if request.POST.get("digest") == _digest(raw, delete):
                return self._import(request, raw, delete)
            return self.again(200, trial=_try(raw, delete), typed=_typed(request))
        except (DocumentError, ChangeRefused) as error:
            return self.again(problems=error.problems)

    def _import(self, request: HttpRequest, raw: bytes, delete: Sequence[str]) -> HttpResponseBase:
        judged = import_document(
            raw,
            delete,
            author_of(request, Origin.IMPORT),
            allow_failing_calls="allow_failing_calls" in request.POST,
        )
        if judged.plan.does_nothing:
            messages.info(request, _("Nothing was changed: everything is like that already."))
        else:
            note(request, AuditEntry.Action.IMPORT)
            say_done(request, _("Imported."), judged.version)
        return HttpResponseRedirect(reverse("studio:versions"))


def _open(request: HttpRequest, source: Source) -> HttpResponseBase:
    """A proposal of what the document says, instead of an import. Raises DocumentError."""
    title = request.POST.get(WHY, "").strip() or _("Import")
    proposal = open_source(source, request.user.get_username(), title)
    note(request, AuditEntry.Action.PROPOSAL, proposal, "opened")
    messages.success(request, _("Opened as a proposal. Nothing that is live has changed."))
    return HttpResponseRedirect(reverse("studio:proposal", args=[proposal.pk]))


def _uploaded(document: UploadedFile[Any] | None) -> bytes:
    if document is None:
        raise DocumentError([_("Choose the file to import.")])
    if (document.size or 0) > LARGEST_DOCUMENT:
        raise DocumentError([_("A document has at most %(most)s bytes.") % {"most": f"{LARGEST_DOCUMENT:,}"}])
    raw: bytes = document.read()
    return raw


def _typed(request: HttpRequest) -> dict[str, str]:
    """Return what was typed to confirm removals, by group."""
    return {
        name.removeprefix(_TYPED): value.strip()
        for name, value in request.POST.items()
        if name.startswith(_TYPED) and isinstance(value, str) and value.strip()
    }


def _confirmed(request: HttpRequest) -> list[str]:
    """The groups whose names were typed. Raises DocumentError for those that were typed wrongly."""
    typed = _typed(request)
    wrong = [
        _("To remove what the document lacks in “%(group)s”, type exactly that name.") % {"group": group}
        for group, text in typed.items()
        if text != group
    ]
    if wrong:
        raise DocumentError(wrong)
    return sorted(typed)


def _digest(raw: bytes, delete: Sequence[str]) -> str:
    """Of the document, of what is to be removed, and of the configuration that the plan was made for."""
    revision = latest().revision
    text = f"{revision.number} {revision.token} {' '.join(delete)}\n"
    return hashlib.sha256(text.encode() + raw).hexdigest()


def _try(raw: bytes, delete: Sequence[str]) -> Trial:
    """What importing would do, nothing of which is done. Raises DocumentError for what cannot be."""
    now, source = export(latest()), Source.of_document(raw, delete)
    removals = [
        change for change in plan(now, source.document, all_groups(now)).changes if change.after is None
    ]
    judged = preview_source(source)
    if judged.problems:
        raise Refused(judged)
    # Templates look up "items" as a key first, and a Counter has every key.
    removable = dict(Counter(change.group for change in removals))
    return Trial(_digest(raw, delete), removable, judged, report_on(judged))

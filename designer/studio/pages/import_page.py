"""Import: a document's plan first, then the import itself, all or nothing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
from designer.history.broken_callers import QUESTIONS
from designer.history.items import ItemKey
from designer.history.recording import Origin, record_outside
from designer.history.refused_changes import ChangeRefused
from designer.history.restoration import all_groups
from designer.imports.document_import import Source, import_source, preview_source
from designer.imports.import_report import ImportReport, later_changes, report_on
from designer.loading import latest
from designer.models import AuditEntry
from designer.proposals.new_proposals import open_source
from designer.readiness import Finding
from designer.sentences import Sentence
from designer.studio.pages.base import StudioPage
from designer.studio.pages.later_changes import ALL, KEEP, TAKE, LaterChanges, by_item, choices_of
from designer.studio.saving.authors import WHY, author_of
from designer.studio.saving.refused_as_proposal import asks_for_proposal, may_open
from designer.studio.saving.undo_offers import say_done

# What somebody has to type before a group's items are removed.
_TYPED = "remove-"


@dataclass(frozen=True, slots=True)
class Trial:
    """What importing a document would do. `removable` counts, by group, what it lacks. `later` are the items
    whose later changes it would take back.
    """

    digest: str
    removable: Mapping[str, int]
    judged: Judgement
    report: ImportReport
    later: Sequence[LaterChanges]

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
    def answered(self) -> Sequence[str]:
        """Return the questions that the plan answers: whoever imports it has seen who is affected."""
        return QUESTIONS if self.report.calls else ()

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
            # What was changed past the studio counts as a later change, too.
            record_outside()
            upload = _Upload.of(request, raw)
            proposes = asks_for_proposal(request)
            # What is imported is what the plan was shown of.
            if not proposes and request.POST.get("digest") != upload.shown_digest:
                return self.again(200, trial=_try(upload), typed=_typed(request))
            if undecided := upload.undecided():
                return self.again(problems=undecided, trial=_try(upload), typed=_typed(request))
            return _open(request, upload.source) if proposes else self._import(request, upload.source)
        except (DocumentError, ChangeRefused) as error:
            return self.again(problems=error.problems)

    def _import(self, request: HttpRequest, source: Source) -> HttpResponseBase:
        judged = import_source(
            source,
            author_of(request, Origin.IMPORT),
            allow_failing_calls="allow_failing_calls" in request.POST,
        )
        if judged.plan.does_nothing:
            messages.info(request, _("Nothing was changed: everything is like that already."))
        else:
            note(request, AuditEntry.Action.IMPORT)
            say_done(request, _("Imported."), judged.version)
        return HttpResponseRedirect(reverse("studio:versions"))


@dataclass(frozen=True, slots=True)
class _Upload:
    """A document with what the form says of it.

    `choices` says for each item whether it stays as it is. `shown_kept` are the items that stay, and that the
    plan on the page has listed as staying.
    """

    raw: bytes
    source: Source
    choices: Mapping[ItemKey, str]
    shown_kept: Collection[ItemKey]

    @classmethod
    def of(cls, request: HttpRequest, raw: bytes) -> _Upload:
        """Read the form. Raises DocumentError for a document that cannot be read, and for names that were
        typed wrongly.
        """
        source, choices = Source.of_document(raw, _confirmed(request)), choices_of(request)
        if (for_all := request.POST.get(ALL, "")) in (KEEP, TAKE):
            choices |= {undone.item: for_all for undone in later_changes(source.plan(export(latest())))}
        keep = {item for item, choice in choices.items() if choice == KEEP}
        # If more items stay than the page has listed, less is imported than was agreed to, which is no new
        # plan. If fewer stay, more is imported, and the plan has to be shown again.
        listed = request.POST.getlist("kept")
        shown_kept = [item for item in keep if ":".join(item) in listed]
        return cls(raw, source._replace(keep=keep), choices, shown_kept)

    @property
    def shown_digest(self) -> str:
        return self._digest(self.shown_kept)

    @property
    def digest(self) -> str:
        return self._digest(self.source.keep or ())

    def _digest(self, kept: Collection[ItemKey]) -> str:
        """Of the document, of what is to be removed and of what stays, and of the present configuration."""
        revision = latest().revision
        kept_names = sorted(":".join(item) for item in kept)
        parts = [revision.number, revision.token, list(self.source.delete), kept_names]
        return hashlib.sha256(json.dumps(parts).encode() + self.raw).hexdigest()

    def undecided(self) -> list[Sentence]:
        """Return a sentence for each item of which nobody has said what becomes of its later changes."""
        undone = later_changes(self.source._replace(keep=()).plan(export(latest())))
        items = {part.item: part.what for part in undone if part.item not in self.choices}
        return [
            Sentence("Choose whether %(item)s stays as it is, or becomes what the document says.", item=what)
            for what in items.values()
        ]


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


def _try(upload: _Upload) -> Trial:
    """What importing would do, nothing of which is done. Raises DocumentError for what cannot be."""
    now, source = export(latest()), upload.source
    removals = [
        change
        for change in plan(now, source.document, all_groups(now)).keeping(source.keep or ()).changes
        if change.after is None
    ]
    judged = preview_source(source)
    if judged.problems:
        raise Refused(judged)
    # Templates look up "items" as a key first, and a Counter has every key.
    removable = dict(Counter(change.group for change in removals))
    report = report_on(judged)
    return Trial(upload.digest, removable, judged, report, by_item(report, upload.choices))

"""Import: a document's plan first, then the import itself, all or nothing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
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
from designer.studio.hidden_lists import hidden_from, visible_findings, visible_lines, visible_problems
from designer.studio.pages.base import StudioPage
from designer.studio.pages.later_changes import (
    ALL,
    KEEP,
    TAKE,
    LaterChanges,
    keep_or_take_choices,
    later_changes_by_item,
)
from designer.studio.pages.uploaded_documents import uploaded_bytes
from designer.studio.saving.authors import WHY, author_of, typed_text
from designer.studio.saving.refused_as_proposal import asks_for_proposal, may_open
from designer.studio.saving.undo_offers import say_done

# A field for each group, in which somebody types the group's name to confirm removals, is called
# `remove-GROUP`.
_REMOVAL_FIELD = "remove-"


@dataclass(frozen=True, slots=True)
class Trial:
    """What importing a document would do, for the page that shows it before the import.

    `digest` identifies what is shown. `refusals` are the reasons against the import, if it cannot be made.
    `lines` are those of the plan, as people read them. `removable` counts the items that the document lacks,
    by group. `later` are the items whose later changes the import would take back. `warnings` are the
    findings that do not block. All of these leave out what the account may not see.
    """

    digest: str
    refusals: Sequence[str]
    lines: Sequence[str]
    removable: Mapping[str, int]
    judged: Judgement
    report: ImportReport
    later: Sequence[LaterChanges]
    warnings: Sequence[Finding]

    @property
    def only_calls_fail(self) -> bool:
        """Whether nothing but example calls stands against the import."""
        return not self.judged.is_acceptable() and self.judged.is_acceptable(allow_failing_calls=True)

    @property
    def answered(self) -> Sequence[str]:
        """Return the questions about callers that need no answer: the page has shown who is affected.

        Without calls of late there is nobody to ask about.
        """
        return QUESTIONS if self.report.calls else ()


class ImportPage(StudioPage):
    """Shows the plan of an uploaded document, and imports it or opens a proposal when that is confirmed."""

    title = gettext_lazy("Import")
    permission_required = "designer.import_configuration"
    template_name = "designer/pages/import.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # `largest` is in MiB.
        defaults = {"largest": LARGEST_DOCUMENT // 2**20, "days": DAYS, "may_propose": may_open(self.request)}
        return super().get_context_data(**{**defaults, **kwargs})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        try:
            raw = _sent_document(request)
            # Makes a version of what was changed past the studio, for the plan to name as a later change.
            record_outside()
            upload = _Upload.of(request, raw)
            proposes = asks_for_proposal(request)
            is_shown = request.POST.get("digest") == upload.shown_digest
            # An import is live at once, so the page shows its plan first. A proposal is reviewed later.
            if not is_shown and not proposes:
                return self.show_again(200, trial=_trial_of(upload, request), typed=_typed_names(request))
            if undecided := upload.undecided(hidden_from(request)):
                return self.show_again(
                    problems=undecided, trial=_trial_of(upload, request), typed=_typed_names(request)
                )
            return (
                _open_proposal(request, upload.source) if proposes else self._import(request, upload.source)
            )
        except (DocumentError, ChangeRefused) as error:
            return self.show_again(problems=visible_problems(error, request))

    def _import(self, request: HttpRequest, source: Source) -> HttpResponseBase:
        """Import the document, and return the redirect to the list of versions.

        Raises DocumentError or ChangeRefused.
        """
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
    """An uploaded document (`raw`), with what the form says of it.

    `choices` has KEEP or TAKE for each item of which somebody has said whether it stays as it is.
    `shown_kept` are the items to keep that the plan on the page already listed as staying.
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
        source, choices = Source.of_document(raw, _groups_to_remove(request)), keep_or_take_choices(request)
        # A button that chooses the same for every item whose later changes would be taken back.
        for_all = request.POST.get(ALL, "")
        if for_all in (KEEP, TAKE):
            taken_back = later_changes(source.plan(export(latest())))
            choices |= {part.item: for_all for part in taken_back}
        keep = {item for item, choice in choices.items() if choice == KEEP}
        # The user agreed to the plan with the items that the page listed as staying. If more items stay now,
        # less is imported, and the plan need not be shown again. If fewer stay, the digest is another.
        kept_on_page = request.POST.getlist("kept")
        shown_kept = [item for item in keep if ":".join(item) in kept_on_page]
        # Whoever may not see a list exported a file without it, and did not mean to remove what is in it.
        source = source._replace(keep=keep, unseen=hidden_from(request))
        return cls(raw, source, choices, shown_kept)

    @property
    def shown_digest(self) -> str:
        """Return the digest of the plan that the page has shown, if nothing has changed since."""
        return self._digest(self.shown_kept)

    @property
    def digest(self) -> str:
        """Return the digest of the plan with the choices of this form."""
        return self._digest(self.source.keep or ())

    def _digest(self, kept: Collection[ItemKey]) -> str:
        """Return a digest of the document, of the groups to remove, of the items `kept`, and of the
        configuration as it is now.
        """
        revision = latest().revision
        kept_names = sorted(":".join(item) for item in kept)
        parts = [revision.number, revision.token, list(self.source.delete), kept_names]
        return hashlib.sha256(json.dumps(parts).encode() + self.raw).hexdigest()

    def undecided(self, hidden: Collection[str]) -> list[Sentence]:
        """Return a sentence for each item for which nobody has chosen what becomes of its later changes.

        The page does not ask about items of the lists `hidden`.
        """
        taken_back = later_changes(self.source._replace(keep=()).plan(export(latest())))
        # An item with several later changes is asked about once.
        names_by_item = {
            part.item: part.what
            for part in taken_back
            if part.item not in self.choices and part.item[0] not in hidden
        }
        return [
            Sentence("Choose whether %(item)s stays as it is, or becomes what the document says.", item=name)
            for name in names_by_item.values()
        ]


def _open_proposal(request: HttpRequest, source: Source) -> HttpResponseBase:
    """Open a proposal of the document instead of importing it, and return the redirect to its page.

    Raises DocumentError.
    """
    title = typed_text(request, WHY) or _("Import")
    proposal = open_source(source, request.user.get_username(), title)
    note(request, AuditEntry.Action.PROPOSAL, proposal, "opened")
    messages.success(request, _("Opened as a proposal. Nothing that is live has changed."))
    return HttpResponseRedirect(reverse("studio:proposal", args=[proposal.pk]))


def _sent_document(request: HttpRequest) -> bytes:
    """Return the document in the form. Raises DocumentError for no file and for one that is too large."""
    if (document := request.FILES.get("document")) is None:
        raise DocumentError([_("Choose the file to import.")])
    return uploaded_bytes(document)


def _typed_names(request: HttpRequest) -> dict[str, str]:
    """Return the name that was typed to confirm removals, by the group that it was typed for."""
    return {
        name.removeprefix(_REMOVAL_FIELD): value.strip()
        for name, value in request.POST.items()
        if name.startswith(_REMOVAL_FIELD) and isinstance(value, str) and value.strip()
    }


def _groups_to_remove(request: HttpRequest) -> list[str]:
    """Return the groups whose names were typed: items of them that the document lacks are to be removed.

    Raises DocumentError for names that were typed wrongly.
    """
    typed = _typed_names(request)
    problems = [
        _("To remove what the document lacks in “%(group)s”, type exactly that name.") % {"group": group}
        for group, text in typed.items()
        if text != group
    ]
    if problems:
        raise DocumentError(problems)
    return sorted(typed)


def _trial_of(upload: _Upload, request: HttpRequest) -> Trial:
    """Return what importing would do. Nothing is changed. Raises Refused if no plan can be made."""
    judged = preview_source(upload.source)
    if judged.problems:
        raise Refused(judged)
    hidden = hidden_from(request)
    report = report_on(judged).without(hidden)
    return Trial(
        digest=upload.digest,
        refusals=tuple(judged.sentences(hidden)),
        lines=tuple(visible_lines(judged.plan, request)),
        removable=_removable(upload.source, hidden),
        judged=judged,
        report=report,
        later=later_changes_by_item(report, upload.choices),
        warnings=visible_findings(
            [finding for finding in judged.findings if not finding.is_blocking], request
        ),
    )


def _removable(source: Source, hidden: Collection[str]) -> dict[str, int]:
    """Return how many items of each group the document lacks, whether or not their removal is confirmed.

    Items of the lists `hidden` do not count.
    """
    now = export(latest())
    changes = plan(now, source.document, all_groups(now)).keeping(source.keep or ()).changes
    lacking = (
        change.group for change in changes if change.after is None and change.collection.field not in hidden
    )
    # A dict, not the Counter: templates look up "items" as a key first, and a Counter has every key.
    return dict(Counter(lacking))

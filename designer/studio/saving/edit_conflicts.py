"""Two people on one page: what each has changed is merged, and only what both have changed is asked about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from django.core import signing
from django.db.models import Model
from django.forms import BaseForm, BaseFormSet
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from designer.history.item_keys import item_key, state_of_row
from designer.history.items import ItemKey
from designer.loading import latest
from designer.models import ItemChange
from designer.studio.saving.form_contents import (
    saved_contents,
    sealed,
    sent_contents,
    shape_of,
    unsealed,
    write,
)
from designer.studio.saving.three_way_merge import Question, merge

# The field with the state of the row that the form was filled in over, and the one with what it held then.
SEEN = "_seen"
OPENED = "_opened"
# The field with the sealed questions of a page, and what the field of an answer begins with, before the name
# of its question.
ASKED = "_asked"
ANSWER = "_answer-"
THEIRS = "theirs"

_SALT = "designer.edit-conflict"


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question about a field. `answer` is `mine`, `theirs`, or empty if nothing is chosen yet."""

    question: Question
    answer: str = ""

    @property
    def field(self) -> str:
        return f"{ANSWER}{self.question.name}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """How a page has changed since it was opened.

    `by_whom` is a sentence about who changed it. `taken` names the others' changes that were merged into it.
    """

    by_whom: SafeString | str
    taken: Collection[str] = ()
    questions: Collection[ShownQuestion] = ()

    @property
    def sealed_questions(self) -> str:
        """Return the questions, signed, for the hidden field that brings them back, which `_apply_answers`
        reads.
        """
        questions = [shown.question for shown in self.questions]
        fields = [
            [question.name, question.label, question.mine, question.theirs, question.edits]
            for question in questions
        ]
        return signing.dumps([str(self.by_whom), fields], salt=_SALT, compress=True)


def opened_with(form: BaseForm, formsets: Iterable[BaseFormSet[Any]]) -> str:
    """Return the value that the form sends back as `OPENED`. Form and formsets are unbound."""
    return sealed(saved_contents(form, formsets))


def unbound_request(request: HttpRequest) -> HttpRequest:
    """Return the request as a GET of the page, for forms of the saved state."""
    as_get = copy(request)
    as_get.method = "GET"
    return as_get


def merge_into_request(
    request: HttpRequest,
    row: Model | None,
    saved_forms: Callable[[], tuple[BaseForm, list[BaseFormSet[Any]]]],
    access: Collection[str],
) -> Conflict | None:
    """Merge the page into `request.POST`, and return the conflict. Nothing may be saved while that has
    questions.

    Return None if nobody else changed the page, or all questions are answered. `saved_forms` creates unbound
    forms of the current saved state. `access` is as on `merge`.
    """
    unanswered = _apply_answers(request)
    if unanswered is not None:
        return unanswered
    opened_state = request.POST.get(SEEN)
    configuration = latest()
    if row is None or not opened_state or opened_state == state_of_row(row, configuration):
        return None
    form, formsets = saved_forms()
    shape = shape_of(form, formsets)
    merged = merge(
        shape,
        unsealed(request.POST.get(OPENED, "")),
        sent_contents(request.POST, shape),
        saved_contents(form, formsets),
        access,
    )
    posted = request.POST.copy()
    write(merged.contents, shape, posted)
    _replace_post(request, posted)
    questions = [ShownQuestion(question) for question in merged.questions]
    return Conflict(_by_whom(item_key(row, configuration)), merged.taken, questions)


def _apply_answers(request: HttpRequest) -> Conflict | None:
    """Put the answers to the questions of the sent page into `request.POST`, and return None.

    If any question has no answer, change nothing, and return the questions as a conflict. Return None, too,
    for a page without questions.
    """
    sent = request.POST.get(ASKED)
    if not sent:
        return None
    try:
        by_whom, fields = signing.loads(sent, salt=_SALT)
    except signing.BadSignature:
        return None
    shown = [_with_answer(request, Question(*field)) for field in fields]
    if not all(shown_question.answer for shown_question in shown):
        return Conflict(SafeString(by_whom), questions=shown)
    posted = request.POST.copy()
    # The page has my values already: only the answer “theirs” changes anything.
    for shown_question in shown:
        if shown_question.answer == THEIRS:
            for name, values in shown_question.question.edits.items():
                posted.setlist(name, values)
    _replace_post(request, posted)
    return None


def _with_answer(request: HttpRequest, question: Question) -> ShownQuestion:
    shown = ShownQuestion(question)
    return replace(shown, answer=request.POST.get(shown.field, ""))


def _replace_post(request: HttpRequest, posted: QueryDict) -> None:
    request.POST = posted  # type: ignore[assignment]  # a mutable copy, which nobody changes any more


def _by_whom(key: ItemKey | None) -> SafeString | str:
    """Return a sentence about who changed the item last, and when, with a link to the version."""
    change = None
    if key is not None:
        changes = ItemChange.objects.filter(collection=key[0], key=key[1]).select_related("version")
        change = changes.order_by("-id").first()
    if change is None:
        return _("Changed since you opened this page.")
    version = change.version
    return format_html(
        '{} <a href="{}" target="_blank" rel="noopener">{}</a>',
        _("Changed by %(account)s at %(time)s since you opened this page:")
        % {
            "account": version.account or version.get_origin_display(),
            "time": date_format(localtime(version.made_at), "H:i"),
        },
        reverse("studio:version", args=[version.pk]),
        _("compare"),
    )

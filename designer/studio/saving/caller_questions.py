"""What people are asked before a change breaks callers, in forms and in messages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from designer.history.broken_callers import BREAKS, MOVES
from designer.sentences import Sentence, listed


class AskedQuestion(NamedTuple):
    """A question of a form. `name` and `label` are those of the tick that answers it.

    An answered question has no `text`.
    """

    name: str
    text: str
    label: Promise
    is_ticked: bool


# What people tick to answer.
_TICKS = {MOVES: _("Callers use the new addresses"), BREAKS: _("Callers are ready for this change")}
_ANSWER = {
    MOVES: Sentence("If you mean that, tick “Callers use the new addresses” below, and save again."),
    BREAKS: Sentence("If you mean that, tick “Callers are ready for this change” below, and save again."),
}


def in_a_form(asked: Mapping[str, Sentence]) -> Mapping[str, Sentence]:
    """Return the questions with what to do on the page of a form."""
    return {name: listed([question, _ANSWER[name]], " ") for name, question in asked.items()}


def ticks(asked: Mapping[str, Sentence], ticked: Collection[str]) -> list[AskedQuestion]:
    """Return the questions that a page shows: those that are `asked`, and those that were answered before."""
    return [
        AskedQuestion(name, asked.get(name, ""), label, name in ticked)
        for name, label in _TICKS.items()
        if name in asked or name in ticked
    ]

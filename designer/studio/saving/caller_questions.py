"""What people are asked before a change breaks callers or lets more of them in, in forms and in messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from designer.history.broken_callers import BREAKS, MOVES
from designer.sentences import Sentence, listed
from designer.studio.saving.opened_access import OpenedAccess


class AskedQuestion(NamedTuple):
    """A question of a form. `name` and `label` are those of the tick that answers it.

    An answered question has no `text`. `value` is what the tick sends.
    """

    name: str
    text: str
    label: Promise
    is_ticked: bool
    value: str = "1"


# The question before an endpoint is opened to more callers. Its tick sends the digest of the question.
OPENED = "_opened_access"


# What people tick to answer.
_TICKS = {
    MOVES: _("Callers use the new addresses"),
    BREAKS: _("Callers are ready for this change"),
    OPENED: _("Let them in"),
}
_INSTRUCTIONS = {
    MOVES: Sentence("If you mean that, tick “Callers use the new addresses” below, and save again."),
    BREAKS: Sentence("If you mean that, tick “Callers are ready for this change” below, and save again."),
    OPENED: Sentence("If you mean that, tick “Let them in” below, and save again."),
}


def with_instructions(asked: Mapping[str, Sentence]) -> Mapping[str, Sentence]:
    """Return the questions, by name, each followed by what to do on the page of a form."""
    return {name: listed([question, _INSTRUCTIONS[name]], " ") for name, question in asked.items()}


def ticks(
    asked: Mapping[str, Sentence], ticked: Mapping[str, str], opened: OpenedAccess | None
) -> list[AskedQuestion]:
    """Return the questions that a page shows: those that are `asked`, and those that were answered before.

    `asked` has the text of a question by its name. `ticked` has what was sent, ticks among it. `opened` is
    what the question `OPENED` is about, where it is asked.
    """
    questions = []
    for name, label in _TICKS.items():
        if name in asked:
            value = opened.digest if name == OPENED and opened is not None else "1"
            # Also a tick that was sent: it answered another question.
            questions.append(AskedQuestion(name, asked[name], label, is_ticked=False, value=value))
        elif name in ticked:
            questions.append(AskedQuestion(name, "", label, is_ticked=True, value=ticked[name]))
    return questions

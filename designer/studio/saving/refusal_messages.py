"""Messages that say why a change was refused, with a button that sends it again where that may help."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from designer.history.broken_callers import CallersUnanswered
from designer.history.refused_changes import ChangeRefused
from designer.studio.hidden_lists import visible_refusals
from designer.studio.saving.refused_as_proposal import ADD_TO, PROPOSE, may_propose

# Fields that the repeated request does not send again.
_NOT_REPEATED = ("csrfmiddlewaretoken", PROPOSE, ADD_TO)


def tell_refused(request: HttpRequest, refused: ChangeRefused) -> None:
    """Leave messages that say why the change was refused, with a button that sends it again: to open it as a
    proposal, or with the answer that callers are ready for it.
    """
    *others, last = visible_refusals(refused.findings, request)
    for text in others:
        messages.error(request, text)
    # The button stands in the last message.
    if isinstance(refused, CallersUnanswered):
        messages.error(request, _with_offer(request, last, refused.asked, _("Change it anyway")))
    elif may_propose(request, refused):
        messages.error(request, _with_offer(request, last, [PROPOSE], _("Edit as a proposal")))
    else:
        messages.error(request, last)


def _with_offer(request: HttpRequest, text: str, answers: Iterable[str], label: str) -> SafeString:
    """Return a message with a button that sends the same form once more, with `answers`."""
    sent = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in _NOT_REPEATED
    ]
    sent += [(name, "1") for name in answers]
    fields = format_html_join("", '<input type="hidden" name="{}" value="{}">', sent)
    return format_html(
        '{} <form method="post" action="{}" class="studio-undo"><input type="hidden" '
        'name="csrfmiddlewaretoken" value="{}">{}'
        '<button class="studio-button studio-button-small">{}</button></form>',
        *(text, request.get_full_path(), get_token(request), fields, label),
    )

"""The page that asks before an act of the studio lets in more callers, or lets callers reach more records."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from designer.history.widenings import Unconfirmed
from designer.sentences import said
from designer.studio.pages.base import Crumb

# The field of the form that says what was confirmed.
CONFIRMED = "confirmed"


def ask(
    request: HttpRequest, question: Unconfirmed, *, what: str, back: str, crumbs: Sequence[Crumb] = ()
) -> TemplateResponse:
    """Return the page. Who confirms sends the form of `request` again, with the digest of `question`.

    `what` says in a sentence without a full stop what was about to be done; `back` leads away.
    """
    sent = {name: value for name, value in request.POST.items() if name != CONFIRMED}
    sent.pop("csrfmiddlewaretoken", None)
    # The next request comes from the question's page, whose address shows nothing by itself.
    sent["back"] = back
    context = {
        **admin.site.each_context(request),
        "title": _("Let more callers in?"),
        "crumbs": crumbs,
        "what": what,
        "sentences": [said(sentence) for sentence in question.sentences],
        "digest": question.digest,
        "sent": sent,
        "action": request.get_full_path(),
        "back": back,
    }
    return TemplateResponse(request, "designer/pages/widening_question.html", context)

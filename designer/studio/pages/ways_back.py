"""Going back to what was before, from whichever page: tried, refused, or asked about before it lets in more
callers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from designer.documents.judgement import Judgement
from designer.documents.problems import DocumentError
from designer.history.refused_changes import ChangeRefused
from designer.history.widenings import Unconfirmed
from designer.sentences import said
from designer.studio.hidden_lists import visible_problems
from designer.studio.pages.base import Crumb
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.refused_as_proposal import open_as_proposal

# The field of the form that says what was confirmed.
CONFIRMED = "confirmed"


def try_way_back(
    request: HttpRequest,
    make: Callable[[str], Judgement],
    *,
    title: str,
    what: str,
    page: str,
    crumbs: Sequence[Crumb] = (),
) -> Judgement | HttpResponseBase:
    """Return what `make` has done or, where it has done nothing, the answer to the request.

    `make` gets what was confirmed. It raises Unconfirmed, ChangeRefused or DocumentError, which become the
    answer: the question of `ask`; a proposal called `title`, if the request asks for one; or `page` with a
    message. `what` and `crumbs` are those of `ask`.
    """
    try:
        return make(request.POST.get(CONFIRMED, ""))
    except Unconfirmed as question:
        return ask(request, question, what=what, back=page, crumbs=crumbs)
    except ChangeRefused as refused:
        if redirect := open_as_proposal(request, refused, title):
            return redirect
        tell_refused(request, refused)
    except DocumentError as error:
        for problem in visible_problems(error, request):
            messages.error(request, said(problem))
    return HttpResponseRedirect(page)


def ask(
    request: HttpRequest, question: Unconfirmed, *, what: str, back: str, crumbs: Sequence[Crumb] = ()
) -> TemplateResponse:
    """Return the page. Who confirms sends the form of `request` again, with the digest of `question`.

    `what` says in a sentence without a full stop what was about to be done; `back` leads away. `crumbs` are
    the pages above the question's page.
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

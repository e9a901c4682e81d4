"""The platform's state on pages: whether it answers, and how old its metadata is; refresh and accept it.

Scripts fetch the state apart from the pages that show it, because the platform may take its time.
"""

from __future__ import annotations

import datetime as dt
import time
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from crmclient import FetchesMetadata, KeepsMetadata, Platform
from crmclient.dataverse.advice import advice_on
from crmclient.durations import duration
from crmclient.errors import MetadataPending, MissingPrivilege, PlatformError, PlatformFailure
from crmclient.metadata_parts import USERS, parts_by_privilege, parts_in_words
from crmclient.sentences import Sentence
from designer.audit import address_of, note
from designer.history.accepted_metadata import accept_metadata
from designer.metadata_refresh import RefreshResult, refresh
from designer.models import AuditEntry, Endpoint
from designer.platform import get_platform
from designer.refresh_runs import get_refresh_runs
from designer.studio.pages.base import StudioView
from designer.studio.sent_numbers import sent_number

# A platform whose customization was replaced has more news than anybody reads.
_MOST_NEWS = 30
# For so long after its end, pages say what a refresh has brought, or why it has brought nothing.
_SHOWN = dt.timedelta(minutes=10)
# For so long after its end, a refresh says enough about whether the platform answers.
_KNOWN = dt.timedelta(seconds=10)


class PlatformState(StudioView):
    """Answers with the state as a fragment of HTML, for the dashboard and pages that choose from metadata.

    Whoever opens the address by hand is sent to the dashboard, which shows it.
    """

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        # Scripts accept anything; a browser that opens an address asks for HTML.
        if "text/html" in request.headers.get("Accept", ""):
            return HttpResponseRedirect(reverse("admin:index") + "#platform")
        return render(request, "designer/pages/platform.html", _state_context())


class RefreshMetadata(StudioView):
    """Has the metadata fetched anew, without waiting for it. Of a platform that keeps no copy it is read
    again, at once.

    Answers a script, which sends `fragment`, with the fragment of `PlatformState`. Sends a form without one
    to the page that says how far the refresh is.
    """

    permission_required = "designer.refresh_metadata"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not isinstance(get_platform(), KeepsMetadata):
            refreshed = refresh()
            note(request, AuditEntry.Action.REFRESH, detail=refreshed.audited)
            return render(
                request, "designer/pages/platform.html", {**_state_context(), **_result_context(refreshed)}
            )
        if get_refresh_runs().begin(request.user.get_username(), address_of(request)):
            note(request, AuditEntry.Action.REFRESH, detail="begun")
        if "fragment" in request.POST:
            return render(request, "designer/pages/platform.html", _state_context())
        return HttpResponseRedirect(reverse("studio:platform_budget"))


class AcceptMetadata(StudioView):
    """Accepts the metadata as it is now, so that no endpoint is degraded any more.

    `endpoint`, a row id, limits it to that endpoint.
    """

    permission_required = "designer.change_endpoint"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponseBase:
        chosen = request.POST.get("endpoint", "")
        row = get_object_or_404(Endpoint, pk=sent_number(chosen)) if chosen else None
        count = accept_metadata(row.pk if row else None)
        note(request, AuditEntry.Action.ACCEPT, detail=f"{count} endpoints")
        messages.success(request, _("The platform's metadata is accepted as it is now."))
        if row is not None:
            return HttpResponseRedirect(reverse("admin:designer_endpoint_change", args=[row.pk]))
        return HttpResponseRedirect(reverse("admin:index"))


def _state_context() -> dict[str, Any]:
    """Return the context of the fragment. Calls the platform once, and measures how long that takes.

    It is not called while its metadata is being refreshed, nor just after that: the refresh tells as much.
    """
    platform = get_platform()
    context = refresh_context()
    if context["is_known_by_refresh"]:
        return {**context, "missing": _missing_privileges(platform, None)}
    start = time.monotonic()
    answer = _try_platform(platform)
    failure = answer.failure
    return {
        **context,
        "is_tried": True,
        "reachable": failure is None,
        "failure": "" if failure is None else str(failure),
        "failure_advice": "" if failure is None else advice_on(failure),
        "milliseconds": round((time.monotonic() - start) * 1000),
        "missing": _missing_privileges(platform, answer.missing_privilege),
        "is_pending": isinstance(platform, FetchesMetadata) and platform.metadata_is_pending(),
    }


def refresh_context() -> dict[str, Any]:
    """Return how old the metadata is, and the refresh that runs or has ended lately. Asks nothing of the
    platform.
    """
    platform = get_platform()
    keeps = isinstance(platform, KeepsMetadata)
    refreshed = platform.metadata_refreshed() if isinstance(platform, KeepsMetadata) else None
    run = get_refresh_runs().latest() if keeps else None
    # Metadata can be refreshed only where it is kept.
    context = {"keeps": keeps, "refreshed": refreshed, "is_known_by_refresh": False}
    if run is None:
        return context
    if run.ended is None:
        longest = None if run.longest_request is None else duration(run.longest_request)
        asked = parts_in_words(run.progress.asked)
        return {**context, "is_known_by_refresh": True, "running": run, "asked": asked, "longest": longest}
    age = timezone.now() - run.ended
    # A failure is over as soon as another refresh, such as one of the service itself, has succeeded.
    is_over = run.result is None and refreshed is not None and refreshed > run.ended
    if age > _SHOWN or is_over:
        return context
    context["is_known_by_refresh"] = age < _KNOWN and not run.is_lost
    return {**context, "ended": run, **_result_context(run.result)}


def _result_context(result: RefreshResult | None) -> dict[str, Any]:
    """Return what the fragment says of the result of a refresh; nothing without one."""
    if result is None:
        return {}
    return {
        "brought": result,
        "is_news": result.has_changes,
        "news": result.news[:_MOST_NEWS],
        "more_news": max(0, len(result.news) - _MOST_NEWS),
    }


class _Answer(NamedTuple):
    """How the platform answers. `failure`: why it does not; None: it does.

    `missing_privilege` is the privilege that the service's account lacks to read its own record; None: it
    lacks none.
    """

    failure: PlatformFailure | None = None
    missing_privilege: str | None = None


def _try_platform(platform: Platform) -> _Answer:
    """Read the record of the service's own account, and return how the platform answers.

    `who` alone may answer from memory, so the record is read, too.
    """
    try:
        platform.user(platform.who())
    except MissingPrivilege as error:
        return _Answer(missing_privilege=error.privilege)
    except MetadataPending:
        # The metadata is being fetched, and nothing has failed so far.
        return _Answer()
    except PlatformFailure as error:
        return _Answer(error)
    except PlatformError:
        # The platform refuses the request: that is an answer, too.
        return _Answer()
    return _Answer()


def _missing_privileges(platform: Platform, privilege_for_users: str | None) -> dict[str, Sentence]:
    """Return, by missing privilege, the parts of the metadata that are unknown without it, in words.

    The privilege is empty where the platform does not name it. `privilege_for_users` is the one that the
    service's account lacks to read users; None: it lacks none.
    """
    missing = platform.missing_privileges() if isinstance(platform, KeepsMetadata) else {}
    of_users = [] if privilege_for_users is None else [(USERS, privilege_for_users)]
    by_privilege = parts_by_privilege((*of_users, *missing.items()))
    return {privilege: parts_in_words(parts) for privilege, parts in by_privilege.items()}

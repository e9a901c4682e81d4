"""The platform's state on pages: whether it answers, and how old its metadata is; refresh and accept it.

Scripts fetch the state apart from the pages that show it, because the platform may take its time.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from crmclient import FetchesMetadata, KeepsMetadata, Platform
from crmclient.dataverse.advice import advice_on
from crmclient.errors import MetadataPending, MissingPrivilege, PlatformError, PlatformFailure
from crmclient.metadata_parts import USERS, parts_by_privilege, parts_in_words
from crmclient.sentences import Sentence
from designer.audit import note
from designer.history.accepted_metadata import accept_metadata
from designer.metadata_refresh import RefreshResult, refresh
from designer.models import AuditEntry, Endpoint
from designer.platform import get_platform
from designer.studio.pages.base import StudioView
from designer.studio.sent_numbers import sent_number

# A platform whose customization was replaced has more news than anybody reads.
_MOST_NEWS = 30


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
    """Fetches the metadata anew. Answers with the fragment of `PlatformState`, and with what has changed."""

    permission_required = "designer.refresh_metadata"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            refreshed = refresh()
        except PlatformError as error:
            note(request, AuditEntry.Action.REFRESH, detail="not answered")
            context = {
                **_state_context(),
                "has_failed": True,
                "reason": str(error),
                "advice": advice_on(error),
            }
            return render(request, "designer/pages/platform.html", context)
        note(
            request, AuditEntry.Action.REFRESH, detail="changed" if _found_changes(refreshed) else "as it was"
        )
        context = {
            **_state_context(),
            "brought": refreshed,
            "is_news": _found_changes(refreshed),
            "news": refreshed.news[:_MOST_NEWS],
            "more_news": max(0, len(refreshed.news) - _MOST_NEWS),
        }
        return render(request, "designer/pages/platform.html", context)


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
    """Return the context of the fragment. Calls the platform once, and measures how long that takes."""
    platform = get_platform()
    start = time.monotonic()
    answer = _try_platform(platform)
    failure = answer.failure
    return {
        "reachable": failure is None,
        "failure": "" if failure is None else str(failure),
        "failure_advice": "" if failure is None else advice_on(failure),
        "milliseconds": round((time.monotonic() - start) * 1000),
        # Metadata can be refreshed only where it is kept.
        "keeps": isinstance(platform, KeepsMetadata),
        "refreshed": platform.metadata_refreshed() if isinstance(platform, KeepsMetadata) else None,
        "missing": _missing_privileges(platform, answer.missing_privilege),
        "is_pending": isinstance(platform, FetchesMetadata) and platform.metadata_is_pending(),
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


def _found_changes(refreshed: RefreshResult) -> bool:
    """Return whether the refresh found any difference."""
    return bool(
        refreshed.is_different or refreshed.added or refreshed.removed or refreshed.news or refreshed.degraded
    )

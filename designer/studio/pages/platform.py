"""Whether the platform answers, how old its metadata is, fetching that anew, and accepting what has changed.

Asked apart from the pages that show it: the platform may take its time.
"""

from __future__ import annotations

import time
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from crmclient import KeepsMetadata, Platform
from crmclient.dataverse.advice import advice_on
from crmclient.errors import MissingPrivilege, PlatformError, PlatformFailure
from designer.audit import note
from designer.history.accepted_metadata import accept_metadata
from designer.metadata_refresh import RefreshResult, refresh
from designer.models import AuditEntry, Endpoint
from designer.platform import get_platform
from designer.studio.pages.base import StudioView

# Of a platform that has changed from the ground up, so much is named.
_MOST_NEWS = 30


class PlatformState(StudioView):
    """A fragment: that of the dashboard, and of every page that chooses from metadata."""

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "designer/pages/platform.html", _state())


class RefreshMetadata(StudioView):
    """Fetches the metadata anew; answers the same fragment, with what that brought."""

    permission_required = "designer.refresh_metadata"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            brought = refresh()
        except PlatformError as error:
            note(request, AuditEntry.Action.REFRESH, detail="not answered")
            context = {**_state(), "has_failed": True, "reason": str(error), "advice": advice_on(error)}
            return render(request, "designer/pages/platform.html", context)
        note(request, AuditEntry.Action.REFRESH, detail="changed" if _is_news(brought) else "as it was")
        context = {
            **_state(),
            "brought": brought,
            "is_news": _is_news(brought),
            "news": brought.news[:_MOST_NEWS],
            "more_news": max(0, len(brought.news) - _MOST_NEWS),
        }
        return render(request, "designer/pages/platform.html", context)


class AcceptMetadata(StudioView):
    """What the platform says now is taken for right: degraded endpoints are so no more.

    With `endpoint`, a row id, of that endpoint alone.
    """

    permission_required = "designer.change_endpoint"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponseBase:
        chosen = request.POST.get("endpoint", "")
        row = get_object_or_404(Endpoint, pk=int(chosen)) if chosen.isdecimal() else None
        count = accept_metadata(row.pk if row else None)
        note(request, AuditEntry.Action.ACCEPT, detail=f"{count} endpoints")
        messages.success(request, _("The platform's metadata is accepted as it is now."))
        if row is not None:
            return HttpResponseRedirect(reverse("admin:designer_endpoint_change", args=[row.pk]))
        return HttpResponseRedirect(reverse("admin:index"))


def _state() -> dict[str, Any]:
    platform = get_platform()
    start = time.monotonic()
    failure, missing = _answers(platform)
    return {
        "reachable": failure is None,
        "failure": "" if failure is None else str(failure),
        "failure_advice": "" if failure is None else advice_on(failure),
        "milliseconds": round((time.monotonic() - start) * 1000),
        "keeps": isinstance(platform, KeepsMetadata),
        "refreshed": platform.metadata_refreshed() if isinstance(platform, KeepsMetadata) else None,
        "missing": _missing_privileges(platform, missing),
    }


def _answers(platform: Platform) -> tuple[PlatformFailure | None, str | None]:
    """Why it does not, and the privilege that the service's account lacks to read its own record.

    Who the service is may be known for long: that record is asked for.
    """
    try:
        platform.user(platform.who())
    except MissingPrivilege as error:
        return None, error.privilege
    except PlatformFailure as error:
        return error, None
    except PlatformError:
        # A refusal is an answer.
        pass
    return None, None


def _missing_privileges(platform: Platform, of_users: str | None) -> dict[str, list[str]]:
    """Return what is unknown because a privilege is missing, by privilege (empty when the platform does
    not name it).
    """
    missing = platform.missing_privileges() if isinstance(platform, KeepsMetadata) else {}
    parts_by_privilege: dict[str, list[str]] = {} if of_users is None else {of_users: ["users"]}
    for part, privilege in missing.items():
        parts_by_privilege.setdefault(privilege, []).append(part)
    return parts_by_privilege


def _is_news(brought: RefreshResult) -> bool:
    return bool(brought.is_different or brought.added or brought.removed or brought.news or brought.degraded)

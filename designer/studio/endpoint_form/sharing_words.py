"""Who shares an endpoint's cached answers, and how old they may be, in words."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext as _

from designer.configuration import Endpoint
from designer.endpoint_facts.answer_sharing import sharing

# How many reasons are listed. There may be as many as conditions.
_MOST_REASONS = 3


def age_words(endpoint: Endpoint) -> str:
    """Return how old a cached answer may be, in words; empty when answers are not cached."""
    cache = endpoint.definition.settings.answer_cache
    if cache is None:
        return ""
    words = {"seconds": cache.seconds, "stale": cache.stale_seconds}
    if not cache.stale_seconds:
        return (
            _(
                "A call from here never uses the cache. Callers may get an answer from it that is up to "
                "%(seconds)s seconds old."
            )
            % words
        )
    return (
        _(
            "A call from here never uses the cache. Callers may get an answer from it that is up to "
            "%(seconds)s seconds old, and up to %(stale)s seconds older while the platform is throttled or "
            "away."
        )
        % words
    )


def sharing_words(endpoint: Endpoint | None) -> str:
    """Return a sentence about who shares cached answers; empty for an endpoint that cannot be read."""
    if endpoint is None or endpoint.problem is not None:
        return ""
    scope = sharing(endpoint)
    if scope.is_by_caller:
        reasons = dict.fromkeys(cause.what for cause in scope.callers)
        some_reasons = ", ".join([*reasons][:_MOST_REASONS]) + (", …" if len(reasons) > _MOST_REASONS else "")
        return _("Each caller has answers of their own, because the endpoint reads %(what)s.") % {
            "what": some_reasons
        }
    if settings.PORTICO["CRM_IMPERSONATE"]:
        return _("Each user has answers of their own, because the platform is called as the caller's user.")
    # None: all roles of a caller count, and not only some that are known.
    if scope.roles is None:
        return _("Callers with the same roles share an answer, because an expression reads user.roles.")
    if scope.roles:
        roles = ", ".join(sorted(scope.roles))
        return _("Callers who have the same of these roles share an answer: %(roles)s.") % {"roles": roles}
    return _("All callers share one answer, because the endpoint reads nothing about the caller.")

"""Cached answers that are not cached as somebody may think."""

from __future__ import annotations

from designer.endpoint_facts.answer_sharing import sharing
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.expressions.nearest import did_you_mean
from designer.kinds.actions import ActionSettings
from designer.kinds.settings import CachedSettings
from designer.readiness.registry import Found, warning_of
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@warning_of(CachedSettings, "cache-off")
def late_answers_are_kept(subject: EndpointSubject, settings: CachedSettings) -> Found:
    """Find that answers may be served past their time, while no answers are cached."""
    if settings.cache.stale_seconds and not settings.cache.is_on:
        yield (
            _(
                "Answers are not cached, so none can be served past its time. Enter for how many seconds to "
                "cache answers, or enter 0 here."
            ),
            "settings.cache.stale_seconds",
        )


@warning_of(CachedSettings, "cache-downstream", row_rules=True)
def what_browsers_keep_is_for_everybody(subject: EndpointSubject, settings: CachedSettings) -> Found:
    """Find that browsers and proxies may keep answers, while no answer is the same for all callers."""
    if not settings.cache.downstream:
        return
    shared = sharing(subject.endpoint)
    if not settings.cache.is_on:
        why = _("Answers are not cached. Enter for how many seconds to cache answers, or untick this.")
    elif subject.endpoint.definition.access.authentication_required:
        why = _("Callers need a token, so browsers and proxies keep no answer. Untick this.")
    elif shared.is_by_caller or shared.is_by_roles:
        why = _("Not all callers share one answer, so browsers and proxies keep none. Untick this.")
    else:
        return
    yield why, "settings.cache.downstream"


@warning_of(ActionSettings, "action-changes")
def changed_entities_exist(subject: EndpointSubject, settings: ActionSettings) -> Found:
    """Find entities that the process is said to change, and that do not exist."""
    # Most actions name no entities. The platform is not asked for them.
    entities = subject.metadata.entities() if settings.changes else {}
    for name in settings.changes:
        if name not in entities:
            yield (
                _(
                    "The platform has no entity “%(name)s”.%(hint)s",
                    name=name,
                    hint=did_you_mean(name, entities),
                ),
                "settings.changes",
            )


@warning_of(CachedSettings, "cache-now")
def the_present_is_not_kept(subject: EndpointSubject, settings: CachedSettings) -> Found:
    """Find columns whose value depends on the time of the call, in answers that are cached."""
    if not settings.cache.is_on:
        return
    for column in subject.columns:
        if column.expression and _reads_the_present(column.expression):
            yield (
                _(
                    "The column “%(column)s” depends on the time of the call. In a cached answer it can be "
                    "up to %(seconds)s seconds old.",
                    column=column.shown_as,
                    seconds=settings.cache.seconds,
                ),
                f"columns.{column.shown_as}.expression",
            )


def _reads_the_present(text: str) -> bool:
    """Whether the expression `text` depends on the time of the call; False for one with a mistake."""
    try:
        return Expression(text, ENDPOINT_NAMES).reads_time
    except ExpressionError:
        # The rule of the expression reports the mistake.
        return False

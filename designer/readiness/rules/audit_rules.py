"""The configuration audit: what can be served, and should be looked at by somebody who answers for it."""

from __future__ import annotations

from django.conf import settings as service

from designer.definitions.row_rules import is_open
from designer.kinds import Scope
from designer.kinds.files import UploadSettings
from designer.kinds.option_sets import OptionSetSettings
from designer.readiness.registry import Found, warning, warning_of
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@warning("anonymous-read", row_rules=True)
def reading_is_guarded(subject: EndpointSubject) -> Found:
    reads_records = not subject.endpoint.kind.writes and subject.definition.settings.answers_records
    if reads_records and _is_open(subject) and not _has_row_rule(subject):
        yield _("Anyone may read any record through it, without a token."), "authentication_required"


@warning_of(OptionSetSettings, "option-set-public")
def option_sets_are_guarded(subject: EndpointSubject, settings: OptionSetSettings) -> Found:
    if _is_open(subject):
        yield _("Anyone may read this option set, without a token."), "authentication_required"


@warning("anonymous-without-limit")
def anonymous_callers_are_limited(subject: EndpointSubject) -> Found:
    if _is_open(subject) and service.PORTICO["ADDRESS_RATE"] == 0:
        yield (
            _("Anyone may call it as often as they like: ADDRESS_RATE is 0."),
            "authentication_required",
        )


@warning("delete-without-row-rule", row_rules=True)
def deleting_is_narrowed(subject: EndpointSubject) -> Found:
    if subject.endpoint.kind.removes_records and not _has_row_rule(subject):
        yield _("Its callers may delete any record: a row rule would say which."), "row_rule"


@warning("write-without-roles", row_rules=True)
def writing_is_for_roles(subject: EndpointSubject) -> Found:
    access = subject.definition.access
    kind = subject.endpoint.kind
    on_records = kind.scope is Scope.ENTITY and (kind.is_by_id or kind.is_by_key)
    guarded = access.roles or not access.authentication_required or _has_row_rule(subject)
    if on_records and kind.writes and not guarded:
        yield _("Every caller with a token may write any record: choose roles, or a row rule."), "roles"


@warning_of(UploadSettings, "upload-without-types")
def uploads_say_what_they_take(subject: EndpointSubject, settings: UploadSettings) -> Found:
    if not settings.extensions and not settings.content_types:
        yield _("Any type of file may be uploaded: list the ones that are meant."), "settings.extensions"


def _is_open(subject: EndpointSubject) -> bool:
    return not subject.definition.access.authentication_required


def _has_row_rule(subject: EndpointSubject) -> bool:
    entity = subject.endpoint.entity
    return subject.definition.row_rule is not None or (entity is not None and not is_open(entity.row_rule))

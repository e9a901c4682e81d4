"""The configuration audit: what can be served, and should be looked at by somebody who answers for it."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings as service

from crmclient.metadata import AttributeType
from designer.definitions.row_rules import is_open
from designer.endpoint_facts.reached_entities import RECORDS, Reach, reach
from designer.kinds import Scope
from designer.kinds.files import UploadSettings
from designer.kinds.option_sets import OptionSetSettings
from designer.readiness.registry import Found, warning, warning_of
from designer.readiness.rules.query_rules import QUERY, needs_of_query
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _

WRITE_WITHOUT_ROLES = "write-without-roles"


@warning("anonymous-read", row_rules=True)
def reading_is_guarded(subject: EndpointSubject) -> Found:
    """Find endpoints that answer records to callers without a token while no row rule narrows them."""
    reads_records = not subject.endpoint.kind.writes and subject.definition.settings.answers_records
    if reads_records and _needs_no_token(subject) and not _has_row_rule(subject):
        sentence = _(
            "Anyone may read any record through this endpoint, without a token. Require a token, or add a "
            "row rule."
        )
        yield sentence, "authentication_required"


@warning_of(OptionSetSettings, "option-set-public")
def option_sets_are_guarded(subject: EndpointSubject, settings: OptionSetSettings) -> Found:
    """Find option sets that callers without a token may read."""
    if _needs_no_token(subject):
        yield _("Anyone may read this option set, without a token."), "authentication_required"


@warning("anonymous-without-limit")
def anonymous_callers_are_limited(subject: EndpointSubject) -> Found:
    """Find an open endpoint while ADDRESS_RATE (requests a minute for one address) is 0, which means no
    limit.
    """
    if _needs_no_token(subject) and service.PORTICO["ADDRESS_RATE"] == 0:
        yield (
            _("Anyone may call this endpoint as often as they like, because ADDRESS_RATE is 0. Set a limit."),
            "authentication_required",
        )


@warning("delete-without-row-rule", row_rules=True)
def deleting_is_narrowed(subject: EndpointSubject) -> Found:
    """Find endpoints that delete any record, because no row rule applies."""
    if subject.endpoint.kind.removes_records and not _has_row_rule(subject):
        yield _("Callers may delete any record. Add a row rule that says which."), "row_rule"


@warning(WRITE_WITHOUT_ROLES, row_rules=True)
def writing_is_for_roles(subject: EndpointSubject) -> Found:
    """Find endpoints that write records by id or key for every caller with a token, with no roles and no row
    rule.

    `anonymous-write` finds those that need no token.
    """
    access = subject.definition.access
    kind = subject.endpoint.kind
    on_records = kind.scope is Scope.ENTITY and (kind.is_by_id or kind.is_by_key)
    guarded = access.roles or not access.authentication_required or _has_row_rule(subject)
    if on_records and kind.writes and not guarded:
        yield _("Every caller with a token may write any record. Choose roles, or add a row rule."), "roles"


@warning("caller-type-without-row-rule", row_rules=True)
def callers_reach_their_own_records(subject: EndpointSubject) -> Found:
    """Find where callers who have records, such as contacts, reach the records of all others, too."""
    if _needs_no_token(subject) or _has_row_rule(subject) or subject.definition.preconditions:
        return
    entity = _entity_with_open_records(subject)
    if not entity:
        return
    for name in subject.definition.access.caller_types:
        caller_type = subject.surroundings.caller_types.get(name)
        if caller_type is not None and caller_type.entity and not caller_type.is_of_users:
            yield (
                _(
                    "Every caller of the type “%(type)s” reaches all records of %(entity)s: no row rule says "
                    "which are the caller's. Give %(entity)s a row rule.",
                    type=name,
                    entity=entity,
                ),
                "row_rule",
            )


def _entity_with_open_records(subject: EndpointSubject) -> str:
    """Return the entity whose records every caller reaches; empty where none is, or another rule says so."""
    kind, access = subject.endpoint.kind, subject.definition.access
    query = subject.definition.settings.designed_query
    if query is not None:
        has_rule = query.entity in subject.surroundings.ruled_entities
        return "" if has_rule or needs_of_query(subject).of_caller else query.entity
    if kind.settings.reaches_records:
        return "" if subject.entity in subject.surroundings.ruled_entities else subject.entity
    if kind.scope is not Scope.ENTITY or not (kind.is_by_id or kind.is_by_key):
        return ""
    another_rule_says_so = kind.removes_records or (kind.writes and not access.roles)
    return "" if another_rule_says_so else subject.entity


@warning_of(UploadSettings, "upload-without-types")
def uploads_say_what_they_take(subject: EndpointSubject, settings: UploadSettings) -> Found:
    """Find uploads that take files of any type; of an image column, images of any type."""
    if settings.extensions or settings.content_types:
        return
    column = subject.metadata.attributes(subject.entity).get(settings.attribute)
    yield (
        _("Callers may upload images of any type. List the types that you allow.")
        if column is not None and column.type is AttributeType.IMAGE
        else _("Callers may upload files of any type. List the types that you allow."),
        "settings.extensions",
    )


def _needs_no_token(subject: EndpointSubject) -> bool:
    """Whether callers need no token."""
    return not subject.definition.access.authentication_required


def _has_row_rule(subject: EndpointSubject) -> bool:
    """Whether a row rule narrows the records of the endpoint: its own, that of its entity, or that of an
    entity that its query reads.
    """
    entity = subject.endpoint.entity
    if any(reached.is_ruled and not reached.is_link for reached in _reached_by_itself(subject)):
        return True
    return subject.definition.row_rule is not None or (entity is not None and not is_open(entity.row_rule))


def _reached_by_itself(subject: EndpointSubject) -> Iterator[Reach]:
    """Yield the entities that the endpoint's own query or its kind reaches; not those of data fetchers."""
    return (reached for reached in reach(subject.endpoint) if reached.place in (QUERY, RECORDS))

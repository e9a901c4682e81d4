"""From the claims of a verified token to a caller: record, roles, what expressions may read."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from crmclient import Guid, Platform, parse_guid
from designer.definitions import CallerTypeDefinition, RecordDefinition
from runtime.callers.caller import Caller, Claims
from runtime.callers.issuers.claim_paths import claim_at, excerpt_at
from runtime.callers.issuers.issuer import Issuer, is_volatile
from runtime.callers.issuers.records import RecordSearch, RecordSource, shown_columns
from runtime.callers.issuers.registration import find_registered, register
from runtime.callers.issuers.role_rules import grants_of, has_left_out_groups
from runtime.callers.minute_cache import MinuteCache
from runtime.callers.refusals import RefusedCaller, without_record

logger = logging.getLogger("portico.issuers")


@dataclass(frozen=True, slots=True)
class Resolved:
    """What claims stand for, as it is cached. `refused` is the reason if there is no caller."""

    roles: tuple[str, ...] = ()
    record: Guid | None = None
    refused: str = ""


_resolved: MinuteCache[Resolved] = MinuteCache(
    "resolved",
    pack=lambda resolved: [list(resolved.roles), resolved.record, resolved.refused],
    unpack=lambda packed: Resolved(tuple(packed[0]), packed[1], packed[2]),
)


def forget() -> None:
    """Resolve every caller anew."""
    _resolved.clear()


def resolve(
    issuer: Issuer, claims: Claims, types: Mapping[str, CallerTypeDefinition], platform: Platform
) -> Caller:
    """Return the caller that verified `claims` stand for. Raises RefusedCaller 403, and PlatformFailure."""
    definition = issuer.definition.record
    type = types.get(definition.type)
    digest = _digest(issuer, claims)
    key = (settings.PORTICO["CRM_URL"], issuer.name, claims["sub"], digest, issuer.state, repr(type))
    cached = _resolved.get(key, lambda: _resolve_claims(issuer, claims, type, platform))
    resolved = cached.value
    if resolved.refused:
        raise without_record(issuer.name, definition.type, resolved.refused)
    return Caller(
        issuer=issuer.name,
        subject=claims["sub"],
        roles=frozenset(resolved.roles),
        type=definition.type,
        record=resolved.record,
        claims=excerpt_at(claims, issuer.definition.readable_claims),
        known_until=cached.until,
    )


def _resolve_claims(
    issuer: Issuer, claims: Claims, type: CallerTypeDefinition | None, platform: Platform
) -> Resolved:
    """Return what the claims stand for; with the reason if there is no caller."""
    try:
        record, row = _record_and_row(issuer, claims, type, platform)
    except RefusedCaller as refusal:
        # Kept like any answer: whoever has no record must not cost the platform a call with each request.
        return Resolved(refused=refusal.reason)
    if has_left_out_groups(claims):
        logger.warning(
            "A token does not hold the caller's groups, because there are too many.",
            extra={"issuer": issuer.name},
        )
    roles = {role for grant in grants_of(issuer, claims, row) for role in grant.roles}
    return Resolved(tuple(sorted(roles)), record)


def _record_and_row(
    issuer: Issuer, claims: Claims, type: CallerTypeDefinition | None, platform: Platform
) -> tuple[Guid | None, Mapping[str, Any] | None]:
    """Return the id of the caller's record, and the attributes that roles depend on. Raises RefusedCaller.

    Both are None for a caller without a record. The attributes are None, too, when the claim itself is the id
    of the platform user.
    """
    definition = issuer.definition.record
    if not definition.claim:
        return None, None
    if type is None:
        raise without_record(issuer.name, definition.type, "no_entity")
    if _claim_is_user_id(issuer, type):
        return claimed_user(issuer, claims, type), None
    source = RecordSource(platform, type)
    search = find_record(issuer, claims, source)
    refusal_reason = reason_to_refuse(search)
    if refusal_reason:
        raise without_record(issuer.name, definition.type, refusal_reason)
    if search.rows:
        return search.record, shown_columns(search.rows[0], issuer.record_columns)
    if definition.missing == "continue":
        return None, None
    if not may_register(issuer, search):
        raise without_record(issuer.name, definition.type, search.reason or "no_record")
    record = register(issuer, claims, source, platform)
    # Read again, because roles may depend on the attributes of the new record.
    created = source.find_by_id(record, issuer.record_columns)
    return record, shown_columns(created.rows[0], issuer.record_columns) if created.rows else {}


def find_record(issuer: Issuer, claims: Claims, source: RecordSource) -> RecordSearch:
    """Find the record of the caller by its claim or, if callers register, the record that was registered
    earlier.
    """
    definition = issuer.definition.record
    search = source.find_by_claim(definition, claims, issuer.record_columns)
    if search.rows or definition.missing != "register":
        return search
    return find_registered(issuer, claims, source) or search


def may_register(issuer: Issuer, search: RecordSearch) -> bool:
    """Whether a caller whose record was not found is registered."""
    # Nobody vouches for a claim that is not verified: a record with its value would be taken for that of the
    # claim's owner, who then signs in as the same caller.
    return issuer.definition.record.missing == "register" and search.reason != "not_verified"


def reason_to_refuse(search: RecordSearch) -> str:
    """Return the reason, in a word, why a caller with the found records is refused; empty for one active
    record, or none.
    """
    if len(search.rows) > 1:
        return "several_records"
    return "record_inactive" if search.is_inactive else ""


def claimed_user(issuer: Issuer, claims: Claims, type: CallerTypeDefinition) -> Guid | None:
    """Return the platform user whose id is in the claim, without asking the platform.

    None when the claim holds no GUID, and when records of this issuer have to be looked up. A user need not
    be looked up here: it is read by its id later anyway.
    """
    return _claimed_guid(claims, issuer.definition.record) if _claim_is_user_id(issuer, type) else None


def _claim_is_user_id(issuer: Issuer, type: CallerTypeDefinition) -> bool:
    """Whether the claim itself is the id of a platform user, so that no record has to be looked up."""
    definition = issuer.definition.record
    reads_record = definition.attribute or issuer.record_columns
    return type.is_of_users and not reads_record and definition.missing == "continue"


def _claimed_guid(claims: Claims, definition: RecordDefinition) -> Guid | None:
    """Return the GUID in the claim that names the record; None unless it holds one."""
    claim = claim_at(claims, definition.claim)
    try:
        return parse_guid(claim) if isinstance(claim, str) else None
    except ValueError:
        return None


def _digest(issuer: Issuer, claims: Claims) -> str:
    """Return a digest of all claims that the answer depends on."""
    paths = issuer.paths
    # None: an expression may read any claim. Claims about the token itself would make every digest another
    # one.
    if paths is None:
        claims_read = {name: value for name, value in claims.items() if not is_volatile(name)}
    else:
        claims_read = {path: claim_at(claims, path) for path in paths}
    return hashlib.sha256(json.dumps(claims_read, sort_keys=True).encode()).hexdigest()

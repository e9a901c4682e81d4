"""From the claims of a verified token to a caller: record, roles, what expressions may read."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from crmclient import Guid, Platform, parse_guid
from crmclient.errors import PlatformFailure
from designer.definitions import CallerTypeDefinition, RecordDefinition
from runtime.callers.cache import LIFETIME, RecentCache
from runtime.callers.caller import Caller, Claims
from runtime.callers.issuers.claim_paths import claim_at, picked
from runtime.callers.issuers.issuer import Issuer, is_volatile
from runtime.callers.issuers.records import RecordSource, Sought, shown_columns
from runtime.callers.issuers.registration import register, registered
from runtime.callers.issuers.role_rules import granted, left_out_groups
from runtime.callers.minute_cache import Kept, MinuteCache
from runtime.callers.refusals import RefusedCaller, without_record

logger = logging.getLogger("portico.issuers")

# What the platform told last stands while it is away.
_last_known: RecentCache[tuple[str, ...], Resolved] = RecentCache(size=10_000, seconds=15 * 60)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What claims stand for, as it is kept for a minute. `refused` is the reason where there is no caller."""

    roles: tuple[str, ...] = ()
    record: Guid | None = None
    refused: str = ""


_resolved: MinuteCache[Resolved] = MinuteCache(
    "resolved",
    pack=lambda known: [list(known.roles), known.record, known.refused],
    unpack=lambda packed: Resolved(tuple(packed[0]), packed[1], packed[2]),
)


def forget() -> None:
    """Resolve every caller anew."""
    _resolved.clear()
    _last_known.clear()


def resolve(
    issuer: Issuer, claims: Claims, types: Mapping[str, CallerTypeDefinition], platform: Platform
) -> Caller:
    """The caller that verified `claims` stand for. Raises RefusedCaller 403, and PlatformFailure."""
    known = issuer.definition.record
    type = types.get(known.type)
    digest = _digest(issuer, claims)
    key = (settings.PORTICO["CRM_URL"], issuer.name, claims["sub"], digest, issuer.state, repr(type))
    try:
        kept = _resolved.get(key, lambda: _resolve(issuer, claims, type, platform))
    except PlatformFailure:
        last = _last_known.get(key)
        if last is None:
            raise
        kept = Kept(last, time.monotonic() + LIFETIME)
    else:
        _last_known.put(key, kept.value)
    resolved = kept.value
    if resolved.refused:
        raise without_record(issuer.name, known.type, resolved.refused)
    return Caller(
        issuer=issuer.name,
        subject=claims["sub"],
        roles=frozenset(resolved.roles),
        type=known.type,
        record=resolved.record,
        claims=picked(claims, issuer.definition.readable_claims),
        known_until=kept.until,
    )


def _resolve(
    issuer: Issuer, claims: Claims, type: CallerTypeDefinition | None, platform: Platform
) -> Resolved:
    try:
        record, row = _record(issuer, claims, type, platform)
    except RefusedCaller as refusal:
        # Kept like any answer: whoever has no record must not cost the platform a call with each request.
        return Resolved(refused=refusal.reason)
    if left_out_groups(claims):
        logger.warning(
            "A token does not hold the caller's groups, because there are too many.",
            extra={"issuer": issuer.name},
        )
    roles = {role for each in granted(issuer, claims, row) for role in each.roles}
    return Resolved(tuple(sorted(roles)), record)


def _record(
    issuer: Issuer, claims: Claims, type: CallerTypeDefinition | None, platform: Platform
) -> tuple[Guid | None, Mapping[str, Any] | None]:
    """The caller's record, and of it what roles depend on. Raises RefusedCaller."""
    known = issuer.definition.record
    if not known.claim:
        return None, None
    if type is None:
        raise without_record(issuer.name, known.type, "no_entity")
    if _tells(issuer, type):
        return told(issuer, claims, type), None
    source = RecordSource(platform, type)
    sought = find(issuer, claims, source)
    refused = refusal_of(sought)
    if refused:
        raise without_record(issuer.name, known.type, refused)
    if sought.rows:
        return sought.record, shown_columns(sought.rows[0], issuer.record_columns)
    if known.missing == "continue":
        return None, None
    if known.missing == "refuse":
        raise without_record(issuer.name, known.type, sought.reason or "no_record")
    record = register(issuer, claims, source, platform)
    made = source.by_value("", record, issuer.record_columns)
    return record, shown_columns(made.rows[0], issuer.record_columns) if made.rows else {}


def find(issuer: Issuer, claims: Claims, source: RecordSource) -> Sought:
    """What the platform has for the caller: by the claim or, where callers register, what they were given."""
    known = issuer.definition.record
    sought = source.by_claim(known, claims, issuer.record_columns)
    if sought.rows or known.missing != "register":
        return sought
    return registered(issuer, claims, source) or sought


def refusal_of(sought: Sought) -> str:
    """Why nobody may call with what was found; empty where that is one good record, or none."""
    if len(sought.rows) > 1:
        return "several_records"
    return "record_inactive" if sought.is_inactive else ""


def told(issuer: Issuer, claims: Claims, type: CallerTypeDefinition) -> Guid | None:
    """The platform user whose id a claim is. The user is read by it anyway: nothing has to be looked for.

    None where the claim is none, and where records are found in another way.
    """
    return _id_in(claims, issuer.definition.record) if _tells(issuer, type) else None


def _tells(issuer: Issuer, type: CallerTypeDefinition) -> bool:
    known = issuer.definition.record
    reads_record = known.attribute or issuer.record_columns
    return type.is_of_users and not reads_record and known.missing == "continue"


def _id_in(claims: Claims, known: RecordDefinition) -> Guid | None:
    given = claim_at(claims, known.claim)
    try:
        return parse_guid(given) if isinstance(given, str) else None
    except ValueError:
        return None


def _digest(issuer: Issuer, claims: Claims) -> str:
    """Of all claims that the answer depends on."""
    paths = issuer.paths
    if paths is None:
        read = {name: value for name, value in claims.items() if not is_volatile(name)}
    else:
        read = {path: claim_at(claims, path) for path in paths}
    return hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()

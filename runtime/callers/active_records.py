"""Whether a caller's user or record on the platform still exists and is active, and what it says.

What the platform says is kept for a minute (`minute_cache.py`). While the platform is away, what it said last
counts for a quarter of an hour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from django.conf import settings

from crmclient import Guid, Platform, Value
from crmclient.errors import (
    DeadlineExceeded,
    PlatformError,
    RecordNotFound,
    Throttled,
    Unavailable,
)
from crmclient.metadata import PlatformUser
from crmclient.query.ast import Query
from designer.platform import get_platform
from runtime.callers.caller import Caller
from runtime.callers.caller_records import CallerRecords, records_in
from runtime.callers.minute_cache import CachedValue, MinuteCache
from runtime.callers.portable_values import Unportable, to_bytes
from runtime.callers.recognition import Recognition
from runtime.callers.refusals import no_platform_user, no_record


class _Record(NamedTuple):
    """Whether a record is active (None: there is no such record), and its row where that was read now."""

    active: bool | None
    row: Mapping[str, Value] | None = None

    def packed(self) -> Any:
        """Return this record for other processes. The row is left out when it cannot be packed: they then
        read it themselves.
        """
        try:
            # Only to find out whether the cache can carry the row.
            to_bytes(self.row)
        except Unportable:
            return [self.active, None]
        return list(self)


def _packed_profile(profile: PlatformUser | None) -> Any:
    """Return the profile as plain types, for other processes."""
    return None if profile is None else asdict(profile)


def _unpacked_profile(packed: Any) -> PlatformUser | None:
    """Return the profile that `_packed_profile` was given."""
    if packed is None:
        return None
    # Tuples have become lists on the way.
    members: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in packed.items()
    }
    return PlatformUser(**members)


# None: the platform has no such user. That is kept too, or whoever was deleted would be asked for each time.
_profiles: MinuteCache[PlatformUser | None] = MinuteCache(
    "profile", pack=_packed_profile, unpack=_unpacked_profile
)
# The records of callers that are not platform users. Properties must not be read from an old row: row rules
# may compare with them.
_records: MinuteCache[_Record] = MinuteCache(
    "record",
    pack=lambda record: record.packed(),
    unpack=lambda packed: _Record(*packed),
    when_old=lambda record: record._replace(row=None),
)


def profile_of(issuer: str, user: Guid) -> CachedValue[PlatformUser]:
    """Return the platform's user that a caller of the issuer stands for.

    Raises Problem 403 when the user is gone or disabled, and PlatformFailure.
    """
    cached = _profiles.get((settings.PORTICO["CRM_URL"], user), lambda: _read_profile(user))
    if cached.value is None:
        raise no_platform_user(issuer, "Your user on the platform no longer exists.", "user_unknown")
    if cached.value.disabled:
        raise no_platform_user(issuer, "Your user on the platform is disabled.", "user_disabled")
    return CachedValue(cached.value, cached.until)


def _read_profile(user: Guid) -> PlatformUser | None:
    """Read a user from the platform; None when it has no such user."""
    try:
        return get_platform().user(user)
    except RecordNotFound:
        return None


def with_active_record(caller: Caller, entity: str, recognition: Recognition) -> Caller:
    """Return a caller that is not a platform user, with what its record says.

    Raises Problem 403 when the record is gone or inactive. A record of an entity that the platform no longer
    has is left out.
    """
    record, platform = caller.record, recognition.platform
    if record is None or caller.known_until != math.inf:
        # The caller of an issuer, whose record was looked for, and checked, by a claim: that set
        # `known_until`.
        return caller
    # The account was made when its type still had records, or when the platform still had the entity.
    if entity not in platform.entities():
        return replace(caller, record=None)
    query = recognition.record_query(caller.type, record)
    key = (settings.PORTICO["CRM_URL"], entity, record, repr(query))
    cached = _records.get(key, lambda: _read_record(entity, record, platform, query))
    active, row = cached.value
    if active is None:
        detail = "Your record on the platform no longer exists."
        raise no_record(caller.type, caller.issuer, detail, "record_unknown")
    if not active:
        raise no_record(
            caller.type, caller.issuer, "Your record on the platform is inactive.", "record_inactive"
        )
    record_read = None if query is None or row is None else (query, row)
    return replace(caller, known_until=cached.until, record_read=record_read)


def _read_record(entity: str, record: Guid, platform: Platform, query: Query | None) -> _Record:
    """Read a caller's record, by `query` if it can be read by it."""
    records = records_in(entity, platform)
    row, used_query = _read_row(records, record, platform, query)
    if row is None:
        return _Record(None)
    return _Record(records.is_active(row), None if used_query is None else row)


def _read_row(
    records: CallerRecords, record: Guid, platform: Platform, query: Query | None
) -> tuple[Mapping[str, Value] | None, Query | None]:
    """Read the caller's record. Return the row, and `query` if the row was read by it, else None."""
    if query is not None:
        try:
            return records.read(platform, record, query), query
        except (Throttled, Unavailable, DeadlineExceeded):
            raise
        except PlatformError:
            # What is configured of callers cannot be read, such as a column that the service may not see:
            # only requests that need it fail.
            pass
    return records.read(platform, record), None


def forget() -> None:
    """Ask the platform anew about each user and record."""
    _profiles.clear()
    _records.clear()

"""What the platform changes itself along with what is written, where that is known beforehand."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from crmclient import Call, Platform, Reference, Value
from crmclient.errors import InvalidRecord, RecordNotFound, UnknownTarget
from crmclient.new_records import BUSINESS_UNIT, OWNER, OWNERS, STATE, STATUS, made_of

_FOLLOWING = {OWNER: (BUSINESS_UNIT, *OWNERS), STATE: (STATUS,), STATUS: (STATE,)}


def with_following(written: Collection[str]) -> frozenset[str]:
    """What is written, and the attributes that change along with it."""
    more = (_FOLLOWING.get(name, ()) for name in written)
    return frozenset(written).union(made_of(written), *more)


def following(
    entity: str, values: Mapping[str, Value], looked_at: Collection[str], platform: Platform, call: Call
) -> dict[str, Value]:
    """The values that follow from `values`, written to a record of `entity`; `looked_at` are those wanted.

    Raises InvalidRecord for an owner that does not exist.
    """
    found: dict[str, Value] = {}
    owner = values.get(OWNER)
    if isinstance(owner, Reference):
        if BUSINESS_UNIT in looked_at:
            found[BUSINESS_UNIT] = _business_unit_of(owner, entity, platform, call)
        for name, kind in OWNERS.items():
            found[name] = owner if owner.entity == kind else None
    state, status = values.get(STATE), values.get(STATUS)
    if status is not None:
        options = platform.option_set(STATUS, entity=entity).options
        found[STATE] = next((option.state for option in options if option.value == status), None)
    elif state is not None:
        found[STATUS] = _status_of(state, entity, platform)
    return found


def _status_of(state: Value, entity: str, platform: Platform) -> Value:
    """The default one of a state, else the first."""
    options = platform.option_set(STATE, entity=entity).options
    default = next((option.default_status for option in options if option.value == state), None)
    if default is not None:
        return default
    statuses = platform.option_set(STATUS, entity=entity).options
    return next((option.value for option in statuses if option.state == state), None)


def _business_unit_of(owner: Reference, entity: str, platform: Platform, call: Call) -> Value:
    try:
        found = platform.retrieve(owner.entity, owner.id, ("businessunitid",), call=call)
    except RecordNotFound as error:
        unknown = UnknownTarget(OWNER, f"There is no {owner.entity} with id {owner.id}.")
        raise InvalidRecord(entity, [unknown]) from error
    return found.values["businessunitid"]

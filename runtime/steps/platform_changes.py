"""The values that the platform sets itself along with a write, where they are known beforehand."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from crmclient import Call, Platform, Reference, Value
from crmclient.conventions import Ownership, SystemAttributes
from crmclient.errors import InvalidRecord, RecordNotFound, UnknownTarget


def values_set_along(
    entity: str, values: Mapping[str, Value], attributes: Collection[str], platform: Platform, call: Call
) -> dict[str, Value]:
    """Return the values that the platform sets by itself when `values` are written to a record of `entity`.

    Attributes that cost a query are returned only if they are among `attributes`. Raises InvalidRecord for an
    owner that does not exist.
    """
    system = platform.conventions.of(entity)
    derived: dict[str, Value] = {}
    ownership = system.ownership
    owner = values.get(ownership.attribute) if ownership else None
    if ownership is not None and isinstance(owner, Reference):
        if ownership.unit is not None and ownership.unit in attributes:
            derived[ownership.unit] = _business_unit_of(owner, ownership, entity, platform, call)
        for attribute, owner_entity in ownership.by_entity.items():
            derived[attribute] = owner if owner.entity == owner_entity else None
    return derived | _state_or_status_set_along(entity, values, system, platform)


def _state_or_status_set_along(
    entity: str, values: Mapping[str, Value], system: SystemAttributes, platform: Platform
) -> dict[str, Value]:
    """Return the state that follows from a written status, or the status that follows from a written
    state.
    """
    if system.state is None or system.status is None:
        return {}
    state, status = values.get(system.state), values.get(system.status)
    if status is not None:
        options = platform.option_set(system.status, entity=entity).options
        return {system.state: next((option.state for option in options if option.value == status), None)}
    if state is None:
        return {}
    states = platform.option_set(system.state, entity=entity).options
    default = next((option.default_status for option in states if option.value == state), None)
    if default is None:
        statuses = platform.option_set(system.status, entity=entity).options
        default = next((option.value for option in statuses if option.state == state), None)
    return {system.status: default}


def _business_unit_of(
    owner: Reference, ownership: Ownership, entity: str, platform: Platform, call: Call
) -> Value:
    """Return the business unit of an owner. Raises InvalidRecord for an owner that does not exist."""
    try:
        owner_record = platform.retrieve(owner.entity, owner.id, (ownership.unit_of_owner,), call=call)
    except RecordNotFound as error:
        unknown = UnknownTarget(ownership.attribute, f"There is no {owner.entity} with id {owner.id}.")
        raise InvalidRecord(entity, [unknown]) from error
    return owner_record.values[ownership.unit_of_owner]

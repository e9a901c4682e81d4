"""What a platform fills in of a new record, as far as metadata tell: the rest only it knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Final

from crmclient.metadata import Attribute, AttributeType

OWNER: Final = "ownerid"
BUSINESS_UNIT: Final = "owningbusinessunit"
# The owner once more, under its own kind.
OWNERS: Final = {"owninguser": "systemuser", "owningteam": "team"}
STATE: Final = "statecode"
STATUS: Final = "statuscode"
MAKERS: Final = frozenset({"createdby", "modifiedby"})

# What it makes of several attributes in its own way: the organisation's order of names, its currencies.
_NAME, _NAME_PARTS = "fullname", frozenset({"firstname", "middlename", "lastname"})
_IN_BASE_CURRENCY, _CURRENCY = "_base", "transactioncurrencyid"
# Metadata do not tell which option of these a record gets where none is given.
_WITH_DEFAULTS: Final = frozenset({AttributeType.BOOLEAN, AttributeType.PICKLIST, AttributeType.MULTISELECT})
_KNOWN: Final = frozenset({OWNER, BUSINESS_UNIT, *OWNERS, STATE, STATUS, *MAKERS})


class Origin(Enum):
    """Where an attribute's value of a new record comes from."""

    GIVEN = "given"
    # The owner and what follows from it, state and status, who made the record, its id.
    DEFAULT = "default"
    EMPTY = "empty"
    PLATFORM = "platform"


def origin(name: str, attributes: Mapping[str, Attribute], given: Collection[str]) -> Origin:
    """Of the attribute `name`, where a create sets those of `given`."""
    attribute = attributes.get(name)
    if name in _KNOWN or (attribute is not None and attribute.is_primary_id):
        # An owner that is given settles what follows from it.
        return Origin.GIVEN if name in given and name not in (BUSINESS_UNIT, *OWNERS) else Origin.DEFAULT
    if name in made_of(given):
        return Origin.PLATFORM
    if name in given:
        return Origin.GIVEN
    if attribute is None or not attribute.creatable or attribute.type in _WITH_DEFAULTS or name == _CURRENCY:
        return Origin.PLATFORM
    return Origin.EMPTY


def made_of(written: Collection[str]) -> frozenset[str]:
    """The attributes that change along with what is written, to what only the platform can tell."""
    names = () if _NAME_PARTS.isdisjoint(written) else (_NAME,)
    return frozenset((*names, *(f"{name}{_IN_BASE_CURRENCY}" for name in written)))

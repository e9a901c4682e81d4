"""Party lists: the attributes of an activity that hold people, kept as records of one entity of their own.

A record of `activityparty` is one of them: the activity, the record that takes part or a mail address, and
its part. Dataverse's metadata name the attributes; the number of each part stands in its documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from crmclient.metadata import Attribute

PARTY: Final = "activityparty"
PARTY_ID: Final = "activitypartyid"
ACTIVITY: Final = "activityid"
RECORD: Final = "partyid"
ADDRESS: Final = "addressused"
PART: Final = "participationtypemask"

LONGEST_ADDRESS: Final = 320

PART_NUMBERS: Final[Mapping[str, int]] = {
    "from": 1,
    "to": 2,
    "cc": 3,
    "bcc": 4,
    "requiredattendees": 5,
    "optionalattendees": 6,
    "organizer": 7,
    "resources": 10,
    "customers": 11,
    "customer": 11,
    "related": 13,
}
"""The number of the part that parties have, by the name of their party list. There are no other lists."""

_MAIL: Final = "email"


def collection_of(activity: str) -> str:
    """Return the name of the relationship from an activity to its parties. The navigation property has the
    same name.
    """
    return f"{activity}_activity_parties"


def takes_addresses(activity: str) -> bool:
    """Whether a party of an activity may be a plain address: only mail is sent to one."""
    return activity == _MAIL


def parts_of(attributes: Iterable[Attribute]) -> dict[str, int]:
    """Return the number of the part of each party list among `attributes`, by name."""
    return {
        attribute.logical_name: PART_NUMBERS[attribute.logical_name]
        for attribute in attributes
        if attribute.type.holds_parties
    }

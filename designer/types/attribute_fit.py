"""Whether an attribute can take values like a sample, and how callers would send a value for it.

A value of a source is judged in the form in which a caller would send it, so that both follow the same rules.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from crmclient import Party, Reference
from crmclient.metadata import Attribute, AttributeType
from designer.sentences import Sentence
from designer.types.base import InvalidInput

_TEXTS = frozenset({AttributeType.STRING, AttributeType.MEMO})
_EXACT = frozenset({AttributeType.DECIMAL, AttributeType.MONEY})
_OPTIONS = frozenset({AttributeType.PICKLIST, AttributeType.STATE, AttributeType.STATUS})
_WHOLE = frozenset({AttributeType.INTEGER, AttributeType.BIGINT, AttributeType.DOUBLE}) | _EXACT | _OPTIONS
# Types whose values may be read from a text.
_READ_FROM_TEXT = frozenset({AttributeType.UNIQUEIDENTIFIER, AttributeType.DATETIME, AttributeType.BIGINT})


_DECIMAL_TEXT = re.compile(r"-?[0-9]+\.[0-9]+")
_DAY_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_GUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GUID_LENGTH = 36


def as_sent(value: Any, attribute: Attribute) -> Any:
    """Return a value of a source in the form in which a caller would send it for `attribute`.

    Raises InvalidInput for a record of an entity that the attribute does not point at.
    """
    match value:
        case dt.datetime():
            instant = value.astimezone(dt.UTC)
            return instant.date().isoformat() if attribute.holds_days else instant.isoformat()
        case dt.date():
            return value.isoformat()
        case _ if attribute.type.holds_parties:
            return _parties_as_sent(value, attribute)
        case Reference() if attribute.type.is_reference:
            return _record_as_sent(value, attribute)
        case Reference():
            return value.id
        case {"type": str(entity), "id": str(id)} if attribute.type.is_reference:
            # What an expression passes on of a lookup is an object.
            return _record_as_sent(Reference(entity, id), attribute)
        case tuple():
            return list(value)
    return value


def may_hold(attribute: Attribute, sample: Any) -> bool:
    """Whether `attribute` may take a value like `sample`.

    Null fits everywhere, and a text may hold a number.
    """
    if sample is None:
        return True
    return any(judge(attribute, sample) for kinds, judge in _JUDGES if isinstance(sample, kinds))


def least_length(attribute: Attribute, sample: Any) -> int:
    """Return how many characters any value like `sample` has in the text that `attribute` holds.

    0 where some value may be as short as it likes, and for attributes that hold no texts.
    """
    if attribute.type not in _TEXTS:
        return 0
    if isinstance(sample, Reference):
        # The id in a sample may be any text: an id of the platform is a GUID.
        return _GUID_LENGTH
    sent = as_sent(sample, attribute)
    has_one_length = isinstance(sample, dt.date) or (
        isinstance(sent, str) and (_DAY_TEXT.fullmatch(sent) or _GUID_TEXT.fullmatch(sent))
    )
    return len(sent) if has_one_length else 0


def _takes_boolean(attribute: Attribute, sample: bool) -> bool:
    return attribute.type is AttributeType.BOOLEAN


def _takes_whole_number(attribute: Attribute, sample: int) -> bool:
    return attribute.type in _WHOLE and not isinstance(sample, bool)


def _takes_float(attribute: Attribute, sample: float) -> bool:
    return attribute.type is AttributeType.DOUBLE


def _takes_decimal(attribute: Attribute, sample: Decimal) -> bool:
    return attribute.type in _EXACT or attribute.type is AttributeType.DOUBLE


def _takes_instant(attribute: Attribute, sample: dt.datetime) -> bool:
    return attribute.type in _TEXTS or attribute.type is AttributeType.DATETIME


def _takes_day(attribute: Attribute, sample: dt.date) -> bool:
    # A datetime is also a date.
    if isinstance(sample, dt.datetime):
        return False
    return attribute.type in _TEXTS or (attribute.type is AttributeType.DATETIME and attribute.holds_days)


def _takes_text(attribute: Attribute, sample: str) -> bool:
    """Return whether an attribute can have a text that looks like `sample`, or another text of the
    same kind.
    """
    # An expression gives exact numbers, days and ids as texts: a text that looks like one is taken for one.
    if _DECIMAL_TEXT.fullmatch(sample):
        # Other values of the same source may be whole numbers, which a BigInt holds.
        return attribute.type in _TEXTS | _EXACT or attribute.type is AttributeType.BIGINT
    if _DAY_TEXT.fullmatch(sample):
        return attribute.type in _TEXTS or attribute.holds_days
    if attribute.type.is_reference:
        # Callers send the id alone where the attribute points at one entity only.
        return len(attribute.targets) == 1
    if _GUID_TEXT.fullmatch(sample):
        return attribute.type in _TEXTS or attribute.type is AttributeType.UNIQUEIDENTIFIER
    return attribute.type in _TEXTS | _EXACT | _READ_FROM_TEXT


def _takes_reference(attribute: Attribute, sample: Reference) -> bool:
    """Whether `attribute` may take a reference. One without an entity may be of any."""
    if attribute.type.is_reference or attribute.type.holds_parties:
        return not sample.entity or sample.entity in attribute.targets
    return attribute.type in _TEXTS or attribute.type is AttributeType.UNIQUEIDENTIFIER


def _takes_object(attribute: Attribute, sample: Mapping[str, Any]) -> bool:
    """Whether `attribute` may take an object: `{"type", "id"}` for a record, or a party's `{"address"}`."""
    if attribute.type.holds_parties:
        return {"type", "id"} <= sample.keys() or (attribute.takes_addresses and "address" in sample)
    return attribute.type.is_reference and {"type", "id"} <= sample.keys()


def _takes_list(attribute: Attribute, sample: list[Any] | tuple[Any, ...]) -> bool:
    """Whether `attribute` may take a list: of objects for parties, or of option values."""
    if attribute.type.holds_parties:
        return all(isinstance(item, Mapping) and may_hold(attribute, item) for item in sample)
    return attribute.type is AttributeType.MULTISELECT and all(type(item) is int for item in sample)


def _parties_as_sent(value: Any, attribute: Attribute) -> Any:
    """Return a list of parties as callers send it. A single record becomes a list of one.

    Any other value is returned as it is, so that the input's reader refuses it.
    """
    if isinstance(value, Reference | Mapping):
        value = (value,)
    return [_party_as_sent(item, attribute) for item in value] if isinstance(value, tuple | list) else value


def _party_as_sent(value: Any, attribute: Attribute) -> Any:
    """Return a party as callers send it: from a party, a record, or an object that stands for either.

    Any other value is returned as it is. Raises InvalidInput for a record of an entity that takes no part.
    """
    if isinstance(value, Mapping) and ("id" in value or "address" in value):
        id, address = value.get("id"), value.get("address")
        value = Party(None if id is None else Reference(str(value.get("type")), str(id)), address)
    elif isinstance(value, Reference):
        value = Party(value)
    if not isinstance(value, Party):
        return value
    record: dict[str, Any] = {}
    if value.reference is not None:
        if value.reference.entity not in attribute.targets:
            raise _unknown_target(attribute)
        record = {"type": value.reference.entity, "id": value.reference.id}
    return record if value.address is None else {**record, "address": value.address}


def _record_as_sent(value: Reference, attribute: Attribute) -> Any:
    """Return a record as callers send it: its id where `attribute` has one target, else `{"type", "id"}`.

    Raises InvalidInput for a record of an entity that is no target. Without known targets, any fits.
    """
    if attribute.targets and value.entity not in attribute.targets:
        raise _unknown_target(attribute)
    return value.id if len(attribute.targets) == 1 else {"type": value.entity, "id": value.id}


def _unknown_target(attribute: Attribute) -> InvalidInput:
    return InvalidInput(
        "unknown_target", Sentence("Must be a record of: %(targets)s.", targets=", ".join(attribute.targets))
    )


# By the class of the sample. A bool is also an int, and a datetime is also a date: `_takes_whole_number` and
# `_takes_day` refuse those.
_JUDGES: tuple[tuple[Any, Callable[[Attribute, Any], bool]], ...] = (
    (bool, _takes_boolean),
    (int, _takes_whole_number),
    (float, _takes_float),
    (Decimal, _takes_decimal),
    (dt.datetime, _takes_instant),
    (dt.date, _takes_day),
    (str, _takes_text),
    (Reference, _takes_reference),
    (Mapping, _takes_object),
    ((list, tuple), _takes_list),
)

"""The input types by name. A new one is a module here and a line below.

A package adds one by an entry point of `portico.types` (`docs/extending.md`).
"""

from __future__ import annotations

from crmclient.extensions import Registry
from crmclient.metadata import Attribute
from designer.types.attribute_fit import as_sent, least_length, may_hold
from designer.types.base import InputType, InvalidInput, Limits, Reader
from designer.types.booleans import BOOLEAN
from designer.types.choices import MULTI_OPTION_SET, OPTION_SET
from designer.types.lists import LIST
from designer.types.numbers import BIGINT, DECIMAL, DOUBLE, INTEGER, MONEY
from designer.types.parties import PARTY_LIST
from designer.types.records import RECORD
from designer.types.references import ENTITY_REFERENCE, GUID
from designer.types.texts import STRING, TEXT
from designer.types.times import DATE, DATETIME

TYPES: Registry[InputType] = Registry(
    "portico.types",
    "an input type (designer.types.InputType)",
    lambda item: isinstance(item, InputType),
    lambda item: item.name,
)
TYPES.register(
    STRING,
    TEXT,
    INTEGER,
    BIGINT,
    DECIMAL,
    DOUBLE,
    MONEY,
    BOOLEAN,
    DATETIME,
    DATE,
    GUID,
    OPTION_SET,
    MULTI_OPTION_SET,
    ENTITY_REFERENCE,
    PARTY_LIST,
    LIST,
    RECORD,
)

__all__ = [
    "TYPES",
    "InputType",
    "InvalidInput",
    "Limits",
    "Reader",
    "as_sent",
    "holds_records",
    "least_length",
    "may_hold",
    "natural_type",
    "record_types",
    "type_of_records",
]


def holds_records(type: str) -> bool:
    """Whether values of the input type called `type` hold records."""
    input_type = TYPES.get(type)
    return input_type is not None and input_type.holds_records


def record_types() -> list[str]:
    """Return the names of the input types whose values hold records."""
    return [name for name, input_type in TYPES.items() if input_type.holds_records]


def type_of_records(*, several: bool) -> InputType:
    """Return the input type for several records, or for one."""
    return LIST if several else RECORD


def natural_type(attribute: Attribute) -> InputType | None:
    """Return the input type whose values the attribute holds as they are; None for files."""
    return next((input_type for input_type in TYPES.values() if input_type.is_natural_for(attribute)), None)

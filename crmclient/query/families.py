"""Types of attributes that queries treat alike, and what applies to each: operators, aggregates, sorting."""

from __future__ import annotations

from enum import Enum
from typing import Final

from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior
from crmclient.query.ast import Aggregate, Operator
from crmclient.query.designed import DateOperator, DesignedOperator
from crmclient.sentences import Sentence


class Family(str, Enum):
    """Types that take the same operators. The values are words for messages."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "true or false"
    TIME = "date"
    GUID = "unique identifier"
    REFERENCE = "lookup"
    CHOICE = "choice"
    CHOICES = "multi-select choice"
    FILE = "file"
    PARTIES = "party list"

    @property
    def words(self) -> Sentence:
        return _WORDS[self]


_WORDS: Final = {
    Family.TEXT: Sentence("text"),
    Family.NUMBER: Sentence("number"),
    Family.BOOLEAN: Sentence("true or false"),
    Family.TIME: Sentence("date"),
    Family.GUID: Sentence("unique identifier"),
    Family.REFERENCE: Sentence("lookup"),
    Family.CHOICE: Sentence("choice"),
    Family.CHOICES: Sentence("multi-select choice"),
    Family.FILE: Sentence("file"),
    Family.PARTIES: Sentence("party list"),
}

FAMILY: Final = {
    AttributeType.STRING: Family.TEXT,
    AttributeType.MEMO: Family.TEXT,
    AttributeType.INTEGER: Family.NUMBER,
    AttributeType.BIGINT: Family.NUMBER,
    AttributeType.DECIMAL: Family.NUMBER,
    AttributeType.DOUBLE: Family.NUMBER,
    AttributeType.MONEY: Family.NUMBER,
    AttributeType.BOOLEAN: Family.BOOLEAN,
    AttributeType.DATETIME: Family.TIME,
    AttributeType.UNIQUEIDENTIFIER: Family.GUID,
    AttributeType.LOOKUP: Family.REFERENCE,
    AttributeType.CUSTOMER: Family.REFERENCE,
    AttributeType.OWNER: Family.REFERENCE,
    AttributeType.PICKLIST: Family.CHOICE,
    AttributeType.STATE: Family.CHOICE,
    AttributeType.STATUS: Family.CHOICE,
    AttributeType.MULTISELECT: Family.CHOICES,
    AttributeType.FILE: Family.FILE,
    AttributeType.IMAGE: Family.FILE,
    AttributeType.PARTYLIST: Family.PARTIES,
}

# Who takes part in an activity is asked of the linked entity that holds its parties.
_EVERY: Final = frozenset(Family) - {Family.PARTIES}
_EQUAL: Final = _EVERY - {Family.FILE}
_ORDERED: Final = frozenset({Family.TEXT, Family.NUMBER, Family.TIME, Family.CHOICE})
_LISTED: Final = _EQUAL - {Family.CHOICES}
# On a lookup, its name is compared.
_TEXT: Final = frozenset({Family.TEXT, Family.REFERENCE})
_CHOICES: Final = frozenset({Family.CHOICES})
_IDS: Final = frozenset({Family.GUID, Family.REFERENCE})

OF_RECORDS_HIERARCHY: Final = frozenset(
    {Operator.UNDER, Operator.EQ_OR_UNDER, Operator.NOT_UNDER, Operator.ABOVE, Operator.EQ_OR_ABOVE}
)
"""The operators that follow the lookups by which records of an entity form a hierarchy."""

OPERATORS: Final = {
    **dict.fromkeys((Operator.NULL, Operator.NOT_NULL), _EVERY),
    **dict.fromkeys((Operator.EQ, Operator.NE), _EQUAL),
    **dict.fromkeys((Operator.GT, Operator.GE, Operator.LT, Operator.LE), _ORDERED),
    **dict.fromkeys((Operator.BETWEEN, Operator.NOT_BETWEEN), _ORDERED),
    **dict.fromkeys((Operator.IN, Operator.NOT_IN), _LISTED),
    **dict.fromkeys((Operator.LIKE, Operator.NOT_LIKE, Operator.CONTAINS), _TEXT),
    **dict.fromkeys((Operator.BEGINS_WITH, Operator.NOT_BEGINS_WITH), _TEXT),
    **dict.fromkeys((Operator.ENDS_WITH, Operator.NOT_ENDS_WITH), _TEXT),
    **dict.fromkeys((Operator.CONTAIN_VALUES, Operator.NOT_CONTAIN_VALUES), _CHOICES),
    **dict.fromkeys(OF_RECORDS_HIERARCHY, _IDS),
    Operator.IN_FISCAL_PERIOD: frozenset({Family.TIME}),
}
"""The families that each operator applies to."""

AGGREGATES: Final = {
    **dict.fromkeys((Aggregate.COUNT, Aggregate.COUNT_COLUMN), _EVERY),
    **dict.fromkeys((Aggregate.SUM, Aggregate.AVG), frozenset({Family.NUMBER})),
    **dict.fromkeys((Aggregate.MIN, Aggregate.MAX), frozenset({Family.NUMBER, Family.TIME})),
}
"""The families that each aggregate applies to."""


def families_of(operator: DesignedOperator) -> frozenset[Family]:
    """Return the families of attributes that an operator of designed queries is offered for.

    An operator that compares with the caller compares ids. A text may hold an id, and a query may compare it
    so, but the operator is not offered for texts.
    """
    if isinstance(operator, Operator):
        return OPERATORS[operator]
    return frozenset({Family.TIME}) if isinstance(operator, DateOperator) else _IDS


UNSORTABLE: Final = frozenset({Family.CHOICES, Family.FILE, Family.PARTIES})
"""The families that rows cannot be sorted by."""


def why_not_comparable(left: Attribute, right: Attribute) -> Sentence:
    """Return what is said of two attributes for which `are_comparable` is false."""
    return Sentence(
        "a %(left)s and a %(right)s cannot be compared", left=left.type.value, right=right.type.value
    )


def are_comparable(left: Attribute, right: Attribute) -> bool:
    """Whether a condition may compare the two attributes with each other."""
    families = {FAMILY[left.type], FAMILY[right.type]}
    if families <= _IDS:
        return True
    if len(families) > 1 or families & {Family.FILE, Family.PARTIES}:
        return False
    if Family.NUMBER in families:
        return left.type is right.type
    if Family.TIME in families:
        # A day without a time is stored in another form than a time.
        left_is_day, right_is_day = (
            attribute.behavior is DateTimeBehavior.DATE_ONLY for attribute in (left, right)
        )
        return left_is_day == right_is_day
    return True


UNREADABLE: Final = Sentence("the platform does not return its value")
"""Why an attribute that is not readable is no column, condition or order."""

"""DateTime and Date."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_noop as _

from crmclient.metadata import Attribute, AttributeType
from crmclient.query.ast import Operator
from crmclient.query.designed import WHOLE_DAYS, DateOperator, DesignedOperator
from designer.sentences import Sentence
from designer.types.allowed import within
from designer.types.base import PATTERNS, InputType, InvalidInput, Limits, Reader

# The platform takes no earlier ones.
_EARLIEST = dt.datetime(1753, 1, 1, tzinfo=dt.UTC)
# RFC 3339: a full date and time with an offset. Python reads more forms than that.
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_FULL_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

_SAMPLE = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
_EQUALITY = frozenset({Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN})


@dataclass(frozen=True, slots=True)
class DateTimeType(InputType):
    """An instant, RFC 3339 with an offset; kept in UTC, in whole seconds as the platform does."""

    name: str = "DateTime"
    label: str = _("Date and time")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.DATETIME})
    constraints: frozenset[str] = frozenset({"allowed"})
    editor: ClassVar[str] = "datetime"
    sample: ClassVar[Any] = _SAMPLE
    is_textual: ClassVar[bool] = True

    @property
    def widget(self) -> str:
        return "datetime"

    def is_natural_for(self, attribute: Attribute) -> bool:
        """Whether the attribute holds instants, and not days."""
        return attribute.type is AttributeType.DATETIME and not attribute.holds_days

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        if isinstance(operator, DateOperator):
            # Such as “on”: a day is better, and an instant says its day, too.
            return 1 if operator in WHOLE_DAYS else None
        return 0 if operator not in PATTERNS and self.is_natural_for(attribute) else None

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of texts in the form of RFC 3339, as instants in UTC. It raises InvalidInput."""

        def read(raw: Any) -> dt.datetime:
            if type(raw) is not str or not _RFC3339.fullmatch(raw):
                raise InvalidInput(
                    "wrong_type", Sentence("Must be a date and time with an offset: 2026-01-31T12:00:00Z.")
                )
            try:
                # Python does not read a lower-case z.
                value = dt.datetime.fromisoformat(raw.upper()).astimezone(dt.UTC)
            except (ValueError, OverflowError):
                raise InvalidInput("wrong_type", Sentence("There is no such date and time.")) from None
            if value < _EARLIEST:
                raise InvalidInput("out_of_range", Sentence("Must not be before the year 1753."))
            return value.replace(microsecond=0)

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "format": "date-time"}
        return {**schema, "enum": list(limits.allowed)} if limits.allowed else schema


@dataclass(frozen=True, slots=True)
class DateType(InputType):
    """A calendar date, without time or zone."""

    name: str = "Date"
    label: str = _("Date")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.DATETIME})
    constraints: frozenset[str] = frozenset({"allowed"})
    editor: ClassVar[str] = "date"
    sample: ClassVar[Any] = _SAMPLE.date()
    is_textual: ClassVar[bool] = True

    @property
    def widget(self) -> str:
        return "date"

    def is_natural_for(self, attribute: Attribute) -> bool:
        """Whether the attribute holds days, and not instants."""
        return attribute.holds_days

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        if isinstance(operator, DateOperator):
            # Such as “on”. Other operators of dates take numbers, or nothing.
            return 0 if operator in WHOLE_DAYS else None
        if attribute.type is not AttributeType.DATETIME or operator in PATTERNS:
            return None
        if attribute.holds_days:
            return 0
        # A day is no instant, so no instant equals it exactly.
        return None if operator in _EQUALITY else 1

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of texts such as `2026-01-31`, as dates. It raises InvalidInput."""

        def read(raw: Any) -> dt.date:
            if type(raw) is not str or not _FULL_DATE.fullmatch(raw):
                raise InvalidInput("wrong_type", Sentence("Must be a date: 2026-01-31."))
            try:
                value = dt.date.fromisoformat(raw)
            except ValueError:
                raise InvalidInput("wrong_type", Sentence("There is no such date.")) from None
            if value < _EARLIEST.date():
                raise InvalidInput("out_of_range", Sentence("Must not be before the year 1753."))
            return value

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "format": "date"}
        return {**schema, "enum": list(limits.allowed)} if limits.allowed else schema


DATETIME = DateTimeType()
DATE = DateType()

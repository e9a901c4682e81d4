"""The columns of a designed query, checked against the metadata."""

from __future__ import annotations

import datetime as dt

from crmclient.metadata import AttributeType, DateTimeBehavior
from crmclient.query.ast import Column, DateGrouping
from crmclient.query.calendar import Calendar
from crmclient.query.designed import DesignedColumn, DesignedLink, DesignedQuery
from crmclient.query.resolving.names import Names
from crmclient.query.selected_columns import selected_columns
from crmclient.sentences import Sentence


def prepared_columns(
    source: DesignedQuery | DesignedLink, alias: str | None, names: Names, calendar: Calendar
) -> tuple[Column, ...]:
    """Return the columns of the entity, or of the link `alias`. Mistakes are noted in `names`."""
    named = tuple(_column(column, alias, names, calendar) for column in source.columns)
    # `selected_columns` returns the named ones first. What follows comes from the metadata, and is right.
    others = selected_columns(source, names.attributes_of(source.entity, f"entity {source.entity}"))[
        len(named) :
    ]
    return named + tuple(Column(column.attribute) for column in others)


def _column(column: DesignedColumn, alias: str | None, names: Names, calendar: Calendar) -> Column:
    """Check a column against the metadata, and return it as platforms read it. Mistakes are noted
    in `names`.
    """
    construct = f"attribute {column.attribute}"
    attribute = names.attribute(alias, column.attribute, construct) if column.attribute else None
    if not names.joins(alias):
        names.add_problem(construct, Sentence("the link %(alias)s gives no columns", alias=repr(alias)))
    depends_on_zone = attribute is not None and (
        attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.USER_LOCAL
    )
    if (
        column.date_grouping is not None
        and column.user_time_zone
        and depends_on_zone
        and not _is_utc(calendar)
    ):
        names.add_problem(construct, Sentence('dates can be grouped in UTC only: add usertimezone="false"'))
    if column.date_grouping is DateGrouping.FISCAL_YEAR:
        try:
            # Any year does: where it is not known how fiscal years are named, none has a name.
            calendar.fiscal.named_year(dt.MINYEAR)
        except ValueError as error:
            names.add_problem(construct, error.args[0])
    return Column(
        attribute=column.attribute,
        alias=column.alias,
        aggregate=column.aggregate,
        group_by=column.group_by,
        date_grouping=column.date_grouping,
        distinct=column.distinct,
    )


def _is_utc(calendar: Calendar) -> bool:
    return calendar.zone is dt.UTC or str(calendar.zone) in {"UTC", "Etc/UTC"}

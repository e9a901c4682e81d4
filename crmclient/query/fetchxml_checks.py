"""Checks FetchXML against metadata, and finds everything that is wrong with a text."""

from __future__ import annotations

from collections.abc import Callable

from crmclient.query.calendar import Calendar
from crmclient.query.designed import DesignedFilter, DesignedQuery
from crmclient.query.fetchxml import read, read_filter
from crmclient.query.problems import Problem, QueryProblems
from crmclient.query.resolving import prepare, prepare_filter
from crmclient.query.resolving.names import Attributes


def parse_known(text: str, attributes: Attributes, calendar: Calendar) -> DesignedQuery:
    """Return the query in a FetchXML text.

    Raises QueryProblems if the text cannot be read. The problems include the names in the rest of the text
    that the metadata do not have. In a text that can be read, `prepare` checks the names.
    """
    query, problems = read(text)
    if problems:
        raise QueryProblems([*problems, *problems_in_query(query, attributes, calendar)])
    return query


def parse_known_filter(text: str, entity: str, attributes: Attributes, calendar: Calendar) -> DesignedFilter:
    """Return the filter on `entity` in a FetchXML text. Raises QueryProblems, as `parse_known` does."""
    designed, problems = read_filter(text)
    if problems:
        raise QueryProblems([*problems, *problems_in_filter(designed, entity, attributes, calendar)])
    return designed


def problems_in_query(
    query: DesignedQuery, attributes: Attributes, calendar: Calendar
) -> tuple[Problem, ...]:
    """Return what is wrong, by the metadata, with a query of which only a part could be read."""
    # Without an entity there is nothing to look names up in.
    return _problems_of(lambda: prepare(query, attributes, calendar)) if query.entity else ()


def problems_in_filter(
    filter: DesignedFilter, entity: str, attributes: Attributes, calendar: Calendar
) -> tuple[Problem, ...]:
    """Return what is wrong, by the metadata, with a filter on `entity` of which only a part could be read."""
    return _problems_of(lambda: prepare_filter(filter, entity, attributes, calendar))


def _problems_of(check: Callable[[], object]) -> tuple[Problem, ...]:
    """Return what a check finds wrong."""
    try:
        check()
    except QueryProblems as error:
        return error.problems
    return ()

"""Checks FetchXML against metadata, and finds everything that is wrong with a text."""

from __future__ import annotations

from crmclient.query.calendar import Calendar
from crmclient.query.designed import DesignedQuery
from crmclient.query.fetchxml import read
from crmclient.query.problems import Problem, QueryProblems
from crmclient.query.resolving import prepare
from crmclient.query.resolving.names import Attributes


def parse_known(text: str, attributes: Attributes, calendar: Calendar) -> DesignedQuery:
    """Return the query in a FetchXML text.

    Raises QueryProblems if the text cannot be read. The problems include the names in the rest of the text
    that the metadata do not have. In a text that can be read, `prepare` checks the names.
    """
    query, problems = read(text)
    if problems:
        raise QueryProblems([*problems, *_name_problems(query, attributes, calendar)])
    return query


def _name_problems(query: DesignedQuery, attributes: Attributes, calendar: Calendar) -> tuple[Problem, ...]:
    """Return what `prepare` finds wrong with the query."""
    # Without an entity there is nothing to look names up in.
    if not query.entity:
        return ()
    try:
        prepare(query, attributes, calendar)
    except QueryProblems as error:
        return error.problems
    return ()

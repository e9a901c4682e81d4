"""FetchXML against metadata: everything that is wrong with a text, whoever finds it."""

from __future__ import annotations

from crmclient.query.calendar import Calendar
from crmclient.query.designed import DesignedQuery
from crmclient.query.fetchxml import read
from crmclient.query.problems import Problem, QueryProblems
from crmclient.query.resolving import prepare
from crmclient.query.resolving.names import Attributes


def parse_known(text: str, attributes: Attributes, calendar: Calendar) -> DesignedQuery:
    """The query that a FetchXML text describes.

    Raises QueryProblems for what cannot be read and, along with it, for the names in the rest of the text
    that metadata do not have. A text that can be read is left to `prepare`.
    """
    query, problems = read(text)
    if problems:
        raise QueryProblems([*problems, *_unknown(query, attributes, calendar)])
    return query


def _unknown(query: DesignedQuery, attributes: Attributes, calendar: Calendar) -> tuple[Problem, ...]:
    if not query.entity:
        return ()
    try:
        prepare(query, attributes, calendar)
    except QueryProblems as error:
        return error.problems
    return ()

"""Designed queries as queries that a platform runs: typed values, definite dates, a known caller.

`prepare` does once what needs metadata; a `PreparedQuery` then answers for each caller and moment.
"""

from crmclient.query.resolving.circumstances import Circumstances
from crmclient.query.resolving.conditions import can_compare
from crmclient.query.resolving.preparation import prepare, prepare_filter
from crmclient.query.resolving.prepared_queries import PreparedFilter, PreparedQuery
from crmclient.query.resolving.size import sort_columns

__all__ = [
    "Circumstances",
    "PreparedFilter",
    "PreparedQuery",
    "can_compare",
    "prepare",
    "prepare_filter",
    "sort_columns",
]

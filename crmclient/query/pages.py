"""Which pages of a query can be asked for at all."""

from __future__ import annotations

from crmclient.errors import InvalidQuery
from crmclient.query.ast import Page, Query
from crmclient.sentences import Sentence


def check_page(query: Query, page: Page) -> None:
    """Raises InvalidQuery for a top or a size that is none, and for pages of a query with top."""
    if query.top is not None:
        if type(query.top) is not int or query.top < 1:
            raise InvalidQuery(Sentence("top: a whole number, at least 1, is needed."))
        if page.size is not None or page.token is not None:
            raise InvalidQuery(Sentence("top: a query with top cannot be paged."))
    if page.size is not None and page.size < 1:
        raise InvalidQuery(Sentence("count: a page has at least one row."))

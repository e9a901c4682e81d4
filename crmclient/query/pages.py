"""Checks which pages of a query can be asked for."""

from __future__ import annotations

from typing import Final

from crmclient.errors import InvalidQuery
from crmclient.query.ast import Page, Query
from crmclient.sentences import Sentence

MOST_PASSED_OVER: Final = 50_000
"""As on Dataverse: a page beyond is reached by the tokens of those before it."""


def check_page(query: Query, page: Page) -> None:
    """Raise InvalidQuery for a wrong top, size or number of a page, and for pages of a query with top."""
    if query.top is not None:
        if type(query.top) is not int or query.top < 1:
            raise InvalidQuery(Sentence("top: a whole number, at least 1, is needed."))
        if page.size is not None or page.token is not None:
            raise InvalidQuery(Sentence("top: a query with top cannot be paged."))
    if page.size is not None and page.size < 1:
        raise InvalidQuery(Sentence("count: a page has at least one row."))
    if page.number < 1 or (page.number > 1 and page.size is None):
        raise InvalidQuery(Sentence("page: a page is numbered from 1, and has a count of rows."))
    # Beside a token the number says nothing: the token leads to the page, however far behind it is.
    passed_over = 0 if page.token is not None else (page.size or 0) * (page.number - 1)
    if passed_over >= MOST_PASSED_OVER:
        raise InvalidQuery(
            Sentence("page: at most %(most)s rows can be passed over by its number.", most=MOST_PASSED_OVER)
        )

"""Operators that match a text against a pattern, and the pattern that each of them means.

FetchXML knows no `contains`, and takes the wildcards of a `begins-with` for wildcards. All of these operators
are therefore asked of a platform as `like` or `not-like`, with the wildcards of the text escaped.
"""

from __future__ import annotations

from typing import Final

from crmclient.query.ast import Operator
from crmclient.sentences import Sentence

LONGEST: Final = 4000
"""The most characters of a pattern, as SQL Server matches it, with what escapes its wildcards."""

_OF_TEXTS: Final = {
    Operator.BEGINS_WITH: (Operator.LIKE, "{}%"),
    Operator.NOT_BEGINS_WITH: (Operator.NOT_LIKE, "{}%"),
    Operator.ENDS_WITH: (Operator.LIKE, "%{}"),
    Operator.NOT_ENDS_WITH: (Operator.NOT_LIKE, "%{}"),
    Operator.CONTAINS: (Operator.LIKE, "%{}%"),
}
_WILDCARDS: Final = str.maketrans({"%": "[%]", "_": "[_]", "[": "[[]"})

MATCHING: Final = frozenset({Operator.LIKE, Operator.NOT_LIKE, *_OF_TEXTS})
"""The operators that match a pattern. On a lookup, they compare the name of its record."""


def pattern_of(operator: Operator, text: str) -> tuple[Operator, str]:
    """Return `like` or `not-like`, and the pattern that means the same as an operator of MATCHING with
    `text`.

    Raises ValueError for too long a pattern.
    """
    # For the operators that take a pattern there is no form: the text is one already.
    like_operator, form = _OF_TEXTS.get(operator, (operator, None))
    pattern = text if form is None else form.format(text.translate(_WILDCARDS))
    if len(pattern) > LONGEST:
        raise ValueError(Sentence("a pattern can have at most %(most)s characters", most=LONGEST))
    return like_operator, pattern

"""`$filter` as a tree: odata-query's parser, with what Dataverse writes beside the standard.

    Microsoft.Dynamics.CRM.In(PropertyName='statecode',PropertyValues=["0","1"])  a list, in any quotes
    AttributeType eq Microsoft.Dynamics.CRM.AttributeTypeCode'Picklist'            an enum's member, qualified
    name eq @p1                                                                    an alias, of `&@p1='x'`

Nothing is taken from the library but the tree: what a name in it may mean is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
from odata_query import ast
from odata_query.exceptions import ODataException
from odata_query.grammar import ODataLexer, ODataParser
from sly.lex import Token

from crmbox.webapi.errors import WebApiError, bad_url

LONGEST: Final = 65_536
"""In characters: as long as a URL inside $batch can be."""

_TEXT: Final = r"'(?:[^']|'')*'"
_LIST: Final = r'\[(?:"(?:[^"\\]|\\.)*"|' + _TEXT + r"""|[^"'\]])*\]"""


def parse_filter(text: str, aliases: Mapping[str, str] | None = None) -> ast._Node:
    """Return the tree of a filter. `aliases` has the text of each `@name`. Raises WebApiError."""
    if len(text) > LONGEST:
        raise bad_url(f"The filter is longer than {LONGEST} characters.")
    lexer = _Lexer(aliases or {})
    try:
        tree = ODataParser().parse(lexer.tokenize(text.strip()))
    except ODataException as error:
        raise _malformed(text) from error
    except (AttributeError, NotImplementedError, KeyError, RecursionError, TypeError, ValueError) as error:
        # The grammar's actions stumble over some trees that its rules accept.
        raise _malformed(text) from error
    if not isinstance(tree, ast._Node):
        raise _malformed(text)
    return tree


def operands(node: ast.BoolOp) -> list[ast._Node]:
    """Return all parts of `a or b or c` in their order. The parser makes a tree as deep as it has parts."""
    parts: list[ast._Node] = []
    waiting: list[ast._Node] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.BoolOp) and type(item.op) is type(node.op):
            waiting += [item.right, item.left]
        else:
            parts.append(item)
    return parts


def _list_items(written: str) -> list[Any]:
    """Return the items of a list in brackets. Some clients put its texts into single quotes, which JSON does
    not know.
    """
    if "'" not in written or written[1:].lstrip().startswith('"'):
        return list(orjson.loads(written))
    texts = [orjson.dumps(text[1:-1].replace("''", "'")) for text in re.findall(_TEXT, written)]
    return list(orjson.loads(re.sub(_TEXT, lambda _: texts.pop(0).decode(), written)))


def _malformed(text: str) -> WebApiError:
    return bad_url(f"Syntax error in the filter '{text[:200]}'.")


def _pattern(text: str) -> Any:
    """Return a pattern for a rule of the lexer whose function stays the library's.

    It does nothing but tell the type checker less: the library's own rules are not declared as texts.
    """
    return text


def _with_pattern(pattern: str) -> Callable[[Any], Any]:
    """Return a decorator that gives a function its pattern, which makes it a rule of SLY's lexer."""

    def marked(function: Any) -> Any:
        function.pattern = pattern
        return function

    return marked


class _Lexer(ODataLexer):
    """Keywords end where a name would go on: `allocated eq 1` begins with no `all`."""

    tokens = ODataLexer.tokens

    ANY = _pattern(r"any(?=\s*\()")
    ALL = _pattern(r"all(?=\s*\()")
    NULL = _pattern(r"null(?![\w.])")
    BOOLEAN = _pattern(r"(?:true|false)(?![\w.])")
    NOT = _pattern(r"not(?=[\s(])\s*")
    GUID = _pattern(r"[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\w-])")

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases

    @_with_pattern(rf"{_TEXT}|[a-z_][\w.]*{_TEXT}|{_LIST}|@\w+")
    def STRING(self, token: Token) -> Token:  # noqa: N802
        """A text, a member of an enum (its name alone is kept), a list, or what an alias stands for."""
        token.value = self._tree_of(token.value)
        return token

    def _tree_of(self, written: str) -> ast._Node:
        """Return the tree of an alias, a list, a text or a member of an enum. Raises WebApiError."""
        if written.startswith("@"):
            if written not in self._aliases:
                raise bad_url(f"The parameter alias '{written}' is not given a value.")
            # Without the aliases: none may lead to another one, or to itself.
            return parse_filter(self._aliases[written])
        if written.startswith("["):
            return ast.List([ast.String(str(item)) for item in _list_items(written)])
        return ast.String(written[written.index("'") + 1 : -1].replace("''", "'"))

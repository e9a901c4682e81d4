"""A text as the tree of one SELECT, of which only what is listed here is understood."""

from __future__ import annotations

from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from crmbox.webapi.errors import WebApiError, bad_url, unsupported

LONGEST: Final = 20_000
_CLAUSES: Final = frozenset(
    {"expressions", "from_", "joins", "where", "group", "order", "limit", "offset", "distinct", "kind"}
)


def read_select(text: str) -> exp.Select:
    """Return the tree of the one SELECT in a text.

    Raises WebApiError: 400 for a text that is not SQL, 501 for SQL outside of the subset.
    """
    if len(text) > LONGEST:
        raise bad_url(f"A statement has at most {LONGEST} characters.")
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect="tsql") if tree is not None]
    except (SqlglotError, RecursionError) as error:
        raise bad_url(f"The statement cannot be read: {_first_line(error)}") from None
    if len(trees) != 1:
        raise bad_url("sql takes exactly one statement.")
    [tree] = trees
    if not isinstance(tree, exp.Select):
        raise unsupported_node(tree)
    for clause, part in tree.args.items():
        if part and clause not in _CLAUSES:
            raise unsupported(f"{clause.strip('_').upper()} in sql")
    if nested := next((node for node in tree.find_all(exp.Query) if node is not tree), None):
        raise unsupported_node(nested)
    if tree.args.get("from_") is None:
        raise bad_url("sql needs a FROM.")
    return tree


def unsupported_node(node: exp.Expr) -> WebApiError:
    """Return the error for a part of a statement that is not supported."""
    return unsupported(f"'{node.sql(dialect='tsql')[:100]}' ({type(node).__name__}) in sql")


def whole(node: exp.Expr | None, name: str) -> int:
    """Return the whole number of the clause `name`. Raises WebApiError."""
    digits = node.this if isinstance(node, exp.Literal) and not node.is_string else ""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise bad_url(f"{name} takes a whole number.")
    return int(digits)


def text_of(node: exp.Expr) -> str:
    """Return the text of a literal. Raises WebApiError for anything else."""
    match node:
        case exp.Literal() | exp.National():
            return str(node.this)
        case exp.Neg(this=exp.Literal()) if not node.this.is_string:
            return f"-{node.this.this}"
        case exp.Boolean():
            return "true" if node.this else "false"
    raise unsupported_node(node)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else "it is nested too deeply."

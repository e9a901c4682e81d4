"""Literals of `$filter` as values of the attributes that they are compared with."""

from __future__ import annotations

import datetime as dt
from typing import Final

from odata_query import ast

from crmbox.webapi.errors import WebApiError, bad_url
from crmclient.metadata import Attribute, AttributeType
from crmclient.query import literals
from crmclient.query.calendar import Calendar
from crmclient.values import Value

UTC: Final = Calendar()
"""Days begin in UTC: a token's user has no time zone of its own here."""

_TEXTS: Final = frozenset({AttributeType.STRING, AttributeType.MEMO})
_QUOTED_TOO: Final = frozenset(
    {
        AttributeType.UNIQUEIDENTIFIER,
        AttributeType.LOOKUP,
        AttributeType.CUSTOMER,
        AttributeType.OWNER,
        AttributeType.MULTISELECT,
    }
)
"""Types whose literals may stand in quotes: Dataverse's own examples write GUIDs in both ways."""


def value_of(literal: ast._Node, attribute: Attribute) -> Value:
    """Return the value of a literal for an attribute.

    Raises WebApiError for a literal of another type or a value that the attribute cannot have.
    """
    if not isinstance(literal, ast._Literal) or isinstance(literal, ast.Null | ast.List):
        raise bad_url(f"A value is needed to compare '{attribute.logical_name}' with.")
    text = str(getattr(literal, "val", ""))
    is_text = isinstance(literal, ast.String)
    if attribute.type in _TEXTS:
        if not is_text:
            raise _incompatible(attribute, literal)
        return text
    if is_text and attribute.type not in _QUOTED_TOO:
        raise _incompatible(attribute, literal)
    return read(text, attribute)


def read(text: str, attribute: Attribute) -> Value:
    """Return the value of a text for an attribute. Raises WebApiError."""
    try:
        if attribute.type in _TEXTS:
            return text
        if attribute.type is AttributeType.MULTISELECT:
            return tuple(sorted(literals.read_whole(part) for part in text.split(",")))
        value = literals.read(text, attribute)
        if attribute.type is AttributeType.DATETIME and isinstance(value, dt.date):
            return literals.stored(value, attribute, UTC)
    except ValueError as error:
        raise bad_url(f"'{attribute.logical_name}': {error}.") from None
    return value


def _incompatible(attribute: Attribute, literal: ast._Node) -> WebApiError:
    """Return the error for a literal of another type than the attribute's, in Dataverse's words."""
    return bad_url(
        "A binary operator with incompatible types was detected. Found operand types "
        f"'{attribute.type.value}' ('{attribute.logical_name}') and '{type(literal).__name__}'."
    )

"""`$filter` on metadata: comparisons of properties, among them paths such as `IsCustomizable/Value`.

A member of an enum may be written with its type, `Microsoft.Dynamics.CRM.AttributeTypeCode'Picklist'`, or as
a plain text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from odata_query import ast

from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.odata.expressions import operands, parse_filter
from crmbox.webapi.odata.functions import full_name

Holds: TypeAlias = Callable[[Item], bool]

_DEEPEST: Final = 40
_EQUALITY: Final[dict[type[ast._Node], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ORDER: Final[dict[type[ast._Node], Callable[[Any, Any], bool]]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}
_TEXT_TESTS: Final[dict[str, Callable[[str, str], bool]]] = {
    "contains": lambda text, part: part.lower() in text.lower(),
    "startswith": lambda text, part: text.lower().startswith(part.lower()),
    "endswith": lambda text, part: text.lower().endswith(part.lower()),
}


def read_condition(text: str, aliases: Mapping[str, str]) -> Holds:
    """Raises WebApiError; a property that an item lacks raises it when the condition is tried."""
    return _read(parse_filter(text, aliases), 0)


def _read(node: ast._Node, depth: int) -> Holds:
    if depth > _DEEPEST:
        raise bad_url(f"The filter is nested more than {_DEEPEST} levels deep.")
    match node:
        case ast.BoolOp():
            parts = [_read(part, depth + 1) for part in operands(node)]
            joined = all if isinstance(node.op, ast.And) else any
            return lambda item: joined(part(item) for part in parts)
        case ast.UnaryOp(op=ast.Not()):
            inner = _read(node.operand, depth + 1)
            return lambda item: not inner(item)
        case ast.Compare():
            return _comparison(node)
        case ast.Call():
            return _text_test(node)
    raise unsupported(f"the {type(node).__name__} in a $filter on metadata")


def _comparison(node: ast.Compare) -> Holds:
    left, right = node.left, node.right
    if isinstance(left, ast._Literal):
        raise unsupported("a literal before the property in a $filter on metadata")
    path, value = _path(left), _literal(right)
    kind = type(node.comparator)
    if kind in _EQUALITY:
        test = _EQUALITY[kind]
        return lambda item: test(_plain(_at(item, path)), value)
    if kind not in _ORDER:
        raise unsupported(f"the operator '{kind.__name__.lower()}' in a $filter on metadata")
    ordered = _ORDER[kind]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise unsupported("the comparison of anything but numbers in a $filter on metadata")

    def holds(item: Item) -> bool:
        found = _at(item, path)
        return isinstance(found, int | Decimal) and ordered(found, value)

    return holds


def _text_test(node: ast.Call) -> Holds:
    name = full_name(node.func)
    test = _TEXT_TESTS.get(name)
    if test is None or len(node.args) != 2 or not isinstance(node.args[1], ast.String):
        raise unsupported(f"the function '{name}' in a $filter on metadata")
    path, part = _path(node.args[0]), node.args[1].val
    return lambda item: test(str(_plain(_at(item, path)) or ""), part)


def _literal(node: ast._Node) -> Any:
    if isinstance(node, ast.Boolean | ast.Integer | ast.Null):
        return node.py_val
    if isinstance(node, ast.Float):
        return Decimal(node.val)
    if isinstance(node, ast.String | ast.GUID):
        return node.val.lower() if isinstance(node, ast.GUID) else node.val
    raise unsupported(f"the {type(node).__name__} in a $filter on metadata")


def _path(node: ast._Node) -> tuple[str, ...]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.owner
    if not isinstance(node, ast.Identifier):
        raise unsupported(f"the {type(node).__name__} in a $filter on metadata")
    return (full_name(node), *reversed(parts))


def _at(item: Item, path: tuple[str, ...]) -> Any:
    found: Any = item
    for name in path:
        if isinstance(found, Item):
            found = found.navigations[name]() if name in found.navigations else found.properties
        if isinstance(found, Item):
            continue
        if not isinstance(found, Mapping) or name not in found:
            raise no_property(item, "/".join(path))
        found = found[name]
    return found


def _plain(value: Any) -> Any:
    """A property whose only field is its value is compared as that."""
    return value["Value"] if isinstance(value, Mapping) and "Value" in value else value


def no_property(item: Item, name: str) -> Exception:
    return bad_url(f"Could not find a property named '{name}' on type 'Microsoft.Dynamics.CRM.{item.type}'.")

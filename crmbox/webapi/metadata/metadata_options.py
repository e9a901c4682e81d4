"""`$select`, `$filter` and `$expand` on metadata, nested ones too. Metadata is never paged."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

from odata_query import ast

from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.odata.expressions import operands, parse_filter
from crmbox.webapi.odata.functions import full_name
from crmbox.webapi.odata.options import (
    Options,
    aliases,
    check_nesting,
    read_nested,
    read_options,
    split,
    split_call,
)

Holds: TypeAlias = Callable[[Item], bool]
"""Whether a condition holds for an item. Raises WebApiError for a property that the item lacks."""

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
    """Read a filter. Raises WebApiError.

    For a property that an item lacks, it is raised only when the condition is applied to the item.
    """
    return _condition(parse_filter(text, aliases), 0)


def _condition(node: ast._Node, depth: int) -> Holds:
    """Return the condition that a node of a filter's tree stands for. `depth` is how deep the node is."""
    if depth > _DEEPEST:
        raise bad_url(f"The filter is nested more than {_DEEPEST} levels deep.")
    match node:
        case ast.BoolOp():
            parts = [_condition(part, depth + 1) for part in operands(node)]
            all_or_any = all if isinstance(node.op, ast.And) else any
            return lambda item: all_or_any(part(item) for part in parts)
        case ast.UnaryOp(op=ast.Not()):
            inner = _condition(node.operand, depth + 1)
            return lambda item: not inner(item)
        case ast.Compare():
            return _comparison(node)
        case ast.Call():
            return _text_test(node)
    raise unsupported(f"the {type(node).__name__} in a $filter on metadata")


def _comparison(node: ast.Compare) -> Holds:
    """Return the condition that compares a property with a literal. Only numbers are compared by order.

    Raises WebApiError.
    """
    left, right = node.left, node.right
    if isinstance(left, ast._Literal):
        raise unsupported("a literal before the property in a $filter on metadata")
    path, value = _path(left), _literal(right)
    comparator = type(node.comparator)
    if comparator in _EQUALITY:
        test = _EQUALITY[comparator]
        return lambda item: test(_plain(_value_at(item, path)), value)
    if comparator not in _ORDER:
        raise unsupported(f"the operator '{comparator.__name__.lower()}' in a $filter on metadata")
    is_in_order = _ORDER[comparator]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise unsupported("the comparison of anything but numbers in a $filter on metadata")

    def holds(item: Item) -> bool:
        actual = _value_at(item, path)
        return isinstance(actual, int | Decimal) and is_in_order(actual, value)

    return holds


def _text_test(node: ast.Call) -> Holds:
    """Return the condition of a function such as contains, which does not regard case. Raises WebApiError."""
    name = full_name(node.func)
    test = _TEXT_TESTS.get(name)
    if test is None or len(node.args) != 2 or not isinstance(node.args[1], ast.String):
        raise unsupported(f"the function '{name}' in a $filter on metadata")
    path, part = _path(node.args[0]), node.args[1].val
    return lambda item: test(str(_plain(_value_at(item, path)) or ""), part)


def _literal(node: ast._Node) -> Any:
    """Return the value of a literal, with a GUID in lower case. Raises WebApiError for anything else."""
    if isinstance(node, ast.Boolean | ast.Integer | ast.Null):
        return node.py_val
    if isinstance(node, ast.Float):
        return Decimal(node.val)
    if isinstance(node, ast.String | ast.GUID):
        return node.val.lower() if isinstance(node, ast.GUID) else node.val
    raise unsupported(f"the {type(node).__name__} in a $filter on metadata")


def _path(node: ast._Node) -> tuple[str, ...]:
    """Return the names in a path such as `DisplayName/UserLocalizedLabel/Label`. Raises WebApiError."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.owner
    if not isinstance(node, ast.Identifier):
        raise unsupported(f"the {type(node).__name__} in a $filter on metadata")
    return (full_name(node), *reversed(parts))


def _value_at(item: Item, path: tuple[str, ...]) -> Any:
    """Return the value at a path of properties and navigation properties. Raises WebApiError."""
    current: Any = item
    for name in path:
        if isinstance(current, Item) and name in current.navigations:
            current = current.navigations[name]()
            if not isinstance(current, Item):
                # Several items, or none: no path leads on from there.
                raise no_property(item, "/".join(path))
            continue
        properties = current.properties if isinstance(current, Item) else current
        if not isinstance(properties, Mapping) or name not in properties:
            raise no_property(item, "/".join(path))
        current = properties[name]
    return current


def _plain(value: Any) -> Any:
    """Return the `Value` of a managed property, which is compared as that; any other value as it is."""
    return value["Value"] if isinstance(value, Mapping) and "Value" in value else value


def no_property(item: Item, name: str) -> Exception:
    return bad_url(f"Could not find a property named '{name}' on type 'Microsoft.Dynamics.CRM.{item.type}'.")


@dataclass(frozen=True, slots=True)
class Selection:
    """The items to answer with, and their properties. If `select` is None, they have all properties."""

    select: tuple[str, ...] | None
    filter: str | None
    expansions: Mapping[str, Selection]
    aliases: Mapping[str, str]

    def matching(self, items: Iterable[Item]) -> list[Item]:
        """Return the items that match the filter."""
        if self.filter is None:
            return list(items)
        holds = read_condition(self.filter, self.aliases)
        return [item for item in items if holds(item)]

    def content(self, item: Item, *, base: str | None = None) -> dict[str, Any]:
        """Return an item as JSON, with its type unless that is the declared one, `base`."""
        content: dict[str, Any] = {}
        if base != item.type:
            content["@odata.type"] = f"#Microsoft.Dynamics.CRM.{item.type}"
        content.update(self._properties(item))
        for name, selection in self.expansions.items():
            if name not in item.navigations:
                raise no_property(item, name)
            target = item.navigations[name]()
            content[name] = selection.contents(target, name)
        return content

    def contents(self, target: Item | list[Item] | None, name: str) -> Any:
        """Return the target of a navigation property as JSON."""
        base = _DECLARED.get(name)
        if isinstance(target, list):
            return [self.content(item, base=base) for item in self.matching(target)]
        return None if target is None else self.content(target, base=base)

    def _properties(self, item: Item) -> Mapping[str, Any]:
        """Return the selected properties of an item, with its key. Raises WebApiError for an unknown one."""
        if self.select is None:
            return item.properties
        unknown = [name for name in self.select if name not in item.properties and not _may_lack(item, name)]
        if unknown:
            raise no_property(item, unknown[0])
        names = dict.fromkeys((*self.select, item.key))
        return {name: item.properties[name] for name in names if name in item.properties}


_DECLARED: Final = {
    "Keys": "EntityKeyMetadata",
    "ManyToOneRelationships": "OneToManyRelationshipMetadata",
    "OneToManyRelationships": "OneToManyRelationshipMetadata",
    "ManyToManyRelationships": "ManyToManyRelationshipMetadata",
    "sdkmessageid": "sdkmessage",
}
"""The type that the items of a navigation property have, where there is but one."""


def read_selection(query: Mapping[str, str]) -> Selection:
    """Read the selection in the query of a URL. Raises WebApiError."""
    return _selection(read_options(query), aliases(query))


def _selection(options: Options, aliases: Mapping[str, str]) -> Selection:
    """Return what `$select`, `$filter` and `$expand` choose of metadata. Raises WebApiError."""
    for value, name in ((options.orderby, "$orderby"), (options.top, "$top"), (options.apply, "$apply")):
        if value is not None:
            raise unsupported(f"the query option {name} on metadata")
    select = None if not options.select else tuple(split(options.select, ","))
    expansions = {}
    check_nesting(options.expand or "")
    for part in split(options.expand, ",") if options.expand else ():
        name, inside = split_call(part)
        if name in expansions:
            raise bad_url(f"'{name}' is expanded twice.")
        expansions[name] = _selection(read_nested(inside or ""), aliases)
    return Selection(select, options.filter, expansions, aliases)


def _may_lack(item: Item, name: str) -> bool:
    """Return whether `$select` may name a property although the item lacks it.

    Only some types of attributes have such a property.
    """
    return item.type.endswith("AttributeMetadata") and name[:1].isupper() and name in _OF_SOME_ATTRIBUTES


_OF_SOME_ATTRIBUTES: Final = frozenset(
    {
        *("MaxLength", "MinValue", "MaxValue", "Precision", "PrecisionSource", "Format", "FormatName"),
        *("Targets", "DateTimeBehavior", "MaxSizeInKB", "DefaultValue", "DefaultFormValue", "ImeMode"),
    }
)

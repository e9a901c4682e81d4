"""`$filter` as a filter of the platform's queries.

Only what stands here is understood; everything else is refused by its name. Texts become values, never parts
of the query: `contains`, `startswith` and `endswith` are patterns, in which `%`, `_` and `[…]` are wildcards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from odata_query import ast

from crmbox.calendar import calendar
from crmbox.platform import EmbeddedPlatform
from crmbox.webapi.callers import circumstances_of
from crmbox.webapi.errors import WebApiError, bad_url, unsupported
from crmbox.webapi.model import EntityType
from crmbox.webapi.navigation import Collection
from crmbox.webapi.odata import literals
from crmbox.webapi.odata.expressions import operands, parse_filter
from crmbox.webapi.odata.functions import NAMESPACE, full_name, path_and_condition
from crmbox.webapi.odata.properties import AttributePlace, Paths, no_property
from crmbox.webapi.odata.related import Related, among_keys
from crmclient.errors import InvalidQuery
from crmclient.metadata import Attribute, AttributeType
from crmclient.platform import Call
from crmclient.query.ast import Condition, Filter, FilterItem, Link, Operator
from crmclient.query.designed import DesignedFilter
from crmclient.query.resolving import Circumstances, prepare_filter
from crmclient.values import Guid

_OPPOSITES: Final = {
    Operator.EQ: Operator.NE,
    Operator.LIKE: Operator.NOT_LIKE,
    Operator.BEGINS_WITH: Operator.NOT_BEGINS_WITH,
    Operator.ENDS_WITH: Operator.NOT_ENDS_WITH,
    Operator.IN: Operator.NOT_IN,
    Operator.BETWEEN: Operator.NOT_BETWEEN,
    Operator.NULL: Operator.NOT_NULL,
    Operator.CONTAIN_VALUES: Operator.NOT_CONTAIN_VALUES,
    Operator.UNDER: Operator.NOT_UNDER,
}
_NEGATIONS: Final = {**_OPPOSITES, **{opposite: operator for operator, opposite in _OPPOSITES.items()}}
_NEGATED_ORDERS: Final = {
    Operator.GT: Operator.LE,
    Operator.LE: Operator.GT,
    Operator.GE: Operator.LT,
    Operator.LT: Operator.GE,
}


def negated(item: FilterItem) -> FilterItem:
    """Return a filter that matches exactly the rows that `item` does not match.

    Raises WebApiError for a link, and for an operator that has no opposite.
    """
    if isinstance(item, Filter):
        return Filter(tuple(negated(part) for part in item.items), not item.any)
    if isinstance(item, Link) or item.operator not in _NEGATIONS.keys() | _NEGATED_ORDERS.keys():
        raise unsupported("such a condition within all(…)")
    if item.operator in _NEGATED_ORDERS:
        # An empty value is neither less nor greater, so that it matches the negation.
        empty = [Condition(item.attribute, Operator.NULL, (), item.link)]
        if item.value_of is not None:
            other, name = item.value_of
            empty.append(Condition(name, Operator.NULL, (), other))
        return Filter((replace(item, operator=_NEGATED_ORDERS[item.operator]), *empty), any=True)
    return replace(item, operator=_NEGATIONS[item.operator])


DEEPEST: Final = 40
"""How deep a filter may be nested: less than what the platform's queries take."""

_COMPARISONS: Final[dict[type[ast._Node], Operator]] = {
    ast.Eq: Operator.EQ,
    ast.NotEq: Operator.NE,
    ast.Gt: Operator.GT,
    ast.GtE: Operator.GE,
    ast.Lt: Operator.LT,
    ast.LtE: Operator.LE,
}
_MIRRORED: Final = {
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
}
_PATTERNS: Final = {"contains": "%{}%", "startswith": "{}%", "endswith": "%{}"}
_TEXTS: Final = frozenset({AttributeType.STRING, AttributeType.MEMO})


class Filters:
    """Reads the filters of a request. `user` is the caller, for functions such as EqualUserId."""

    def __init__(
        self, related: Related, platform: EmbeddedPlatform, call: Call, user: Guid, aliases: Mapping[str, str]
    ) -> None:
        self.related = related
        self.model = related.model
        self._platform = platform
        self._call = call
        self._user = user
        self._aliases = aliases

    def read(self, text: str, paths: Paths) -> Filter:
        """Return a filter on the entity of `paths`, and add to them the links that the filter needs.

        Raises WebApiError, also for parts that are not supported.
        """
        item = _Reader(self, paths, None).read(parse_filter(text, self._aliases), 0)
        return item if isinstance(item, Filter) else Filter((item,))

    def circumstances(self) -> Circumstances:
        return circumstances_of(self._platform, self._user)


class _Reader:
    """Reads one tree. Inside `any(o:…)`, `variable` is what stands for the related record."""

    def __init__(self, filters: Filters, paths: Paths, variable: str | None) -> None:
        self._filters = filters
        self._paths = paths
        self._variable = variable

    def read(self, node: ast._Node, depth: int) -> FilterItem:
        """Return the filter that a node of the tree stands for. `depth` is how deep the node is.

        Raises WebApiError for what is nested too deeply or not supported.
        """
        if depth > DEEPEST:
            raise bad_url(f"The filter is nested more than {DEEPEST} levels deep.")
        match node:
            case ast.BoolOp():
                parts = tuple(self.read(part, depth + 1) for part in operands(node))
                return Filter(parts, any=isinstance(node.op, ast.Or))
            case ast.UnaryOp(op=ast.Not()):
                if isinstance(node.operand, ast.Call) and node.operand.func.namespace == NAMESPACE:
                    raise bad_url(f"not cannot stand before the function {full_name(node.operand.func)}.")
                return negated(self.read(node.operand, depth + 1))
            case ast.Compare():
                return self._comparison(node, depth)
            case ast.Call():
                return self._call(node)
            case ast.CollectionLambda():
                return self._lambda(node, depth)
        raise unsupported(f"the {type(node).__name__} in the filter: a condition is needed there")

    def _comparison(self, node: ast.Compare, depth: int) -> FilterItem:
        """Read a comparison of a property with a literal or with another property. Raises WebApiError."""
        operator = _COMPARISONS.get(type(node.comparator))
        if operator is None:
            raise unsupported(f"the operator '{type(node.comparator).__name__.lower()}' in $filter")
        left, right = node.left, node.right
        if isinstance(left, ast.Call) and isinstance(right, ast.Boolean) and operator in _EQUALITY:
            # `contains(name,'x') eq true`, as some clients write it.
            item = self._call(left)
            return item if right.py_val is (operator is Operator.EQ) else negated(item)
        if isinstance(left, ast._Literal):
            left, right = right, left
            operator = _MIRRORED.get(operator, operator)
        place = self._place(left)
        name, link = place.attribute.logical_name, place.link
        if isinstance(right, ast.Identifier | ast.Attribute):
            other = self._place(right)
            return Condition(
                attribute=name,
                operator=operator,
                values=(),
                link=link,
                value_of=(other.link, other.attribute.logical_name),
            )
        if isinstance(right, ast.Null):
            if operator not in _EQUALITY:
                raise bad_url(f"'{name}': null is compared by eq and ne only.")
            return Condition(name, Operator.NULL if operator is Operator.EQ else Operator.NOT_NULL, (), link)
        if not isinstance(right, ast._Literal):
            raise unsupported(f"the {type(right).__name__} in a comparison of $filter")
        return Condition(name, operator, (literals.value_of(right, place.attribute),), link)

    def _call(self, node: ast.Call) -> FilterItem:
        """Read a function that compares text, or one of Dataverse's own."""
        if node.func.namespace == NAMESPACE:
            return self._function(node)
        pattern = _PATTERNS.get(full_name(node.func))
        if pattern is None:
            raise unsupported(f"the function '{full_name(node.func)}' in $filter")
        subject, text = node.args
        place = self._place(subject)
        if place.attribute.type not in _TEXTS or not isinstance(text, ast.String):
            raise bad_url(f"The function {node.func.name} takes a text property and a text.")
        value = pattern.format(text.val)
        return Condition(place.attribute.logical_name, Operator.LIKE, (value,), place.link)

    def _function(self, node: ast.Call) -> FilterItem:
        """Read one of Dataverse's query functions: as a condition of a designed query, resolved for the
        caller and the present moment.
        """
        path, designed = path_and_condition(node)
        place = self._paths.place(self._without_variable(path), logical=True)
        name = place.attribute.logical_name
        designed_filter = DesignedFilter((replace(designed, attribute=name),))
        model, type_ = self._filters.model, self._paths.type

        def attributes(entity: str) -> Mapping[str, Attribute]:
            """Return the attributes of an entity; those of the query's own one with the attribute that is
            compared, which may be that of a link.
            """
            if entity == type_.name:
                return {**type_.attributes, name: place.attribute}
            return model.entity_type(entity).attributes

        try:
            prepared = prepare_filter(designed_filter, self._paths.type.name, attributes, calendar())
            resolved = prepared.resolve(self._filters.circumstances())
        except InvalidQuery as error:
            raise WebApiError(400, "0x80041103", str(error)) from None
        return _on_link(resolved or Filter(), place.link)

    def _lambda(self, node: ast.CollectionLambda, depth: int) -> FilterItem:
        """Return the condition for `any` or `all` of a collection: on the ids of the records that have such
        members.
        """
        path = self._without_variable(_path_segments(node.owner))
        owner = self._paths.target(path[:-1])
        collection = owner.collections.get(path[-1])
        if collection is None:
            raise no_property(path[-1], owner)
        of_all = isinstance(node.operator, ast.All)
        # `all` holds for records without a related one that fails it: `keys` are the records with such a one.
        keys = self._owners(owner, collection, node.lambda_, depth, of_all=of_all)
        key = self._paths.key(path[:-1])
        item = among_keys(key.attribute.logical_name, keys, key.link)
        return negated(item) if of_all else item

    def _owners(
        self,
        owner: EntityType,
        collection: Collection,
        lambda_: ast.Lambda | None,
        depth: int,
        *,
        of_all: bool,
    ) -> tuple[Guid, ...]:
        """Return the ids of the records that have a related record which matches the lambda.

        With `of_all`, the ids of those that have a related record which does not match it: `all` holds for
        every other record.
        """
        related = self._filters.related
        if lambda_ is None:
            return related.owners(owner, collection, None, ())
        paths = Paths(self._filters.model, self._filters.model.entity_type(collection.entity))
        # Reading the expression adds to `paths` the links to the entities whose properties it names.
        inner = _Reader(self._filters, paths, lambda_.identifier.name).read(lambda_.expression, depth + 1)
        filter = Filter((negated(inner) if of_all else inner,))
        return related.owners(owner, collection, filter, paths.links)

    def _place(self, node: ast._Node) -> AttributePlace:
        """Return the attribute that a path in the filter leads to. Raises WebApiError."""
        return self._paths.place(self._without_variable(_path_segments(node)))

    def _without_variable(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return a path without the variable of the lambda that it is in. Raises WebApiError."""
        if self._variable is None or path[0] != self._variable:
            return path
        if len(path) == 1:
            raise bad_url(f"'{path[0]}' stands for a record; name one of its properties.")
        return path[1:]


_EQUALITY: Final = frozenset({Operator.EQ, Operator.NE})


def _path_segments(node: ast._Node) -> tuple[str, ...]:
    """Return the segments of a path `a/b/c`. Raises WebApiError for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.owner
    if isinstance(node, ast.Call):
        raise unsupported(f"the function '{full_name(node.func)}' in $filter")
    if not isinstance(node, ast.Identifier):
        raise unsupported(f"the {type(node).__name__} in $filter where a property is needed")
    return (full_name(node), *reversed(parts))


def _on_link(item: FilterItem, link: str | None) -> FilterItem:
    """Return the filter of an entity as a filter of the link that leads to the entity."""
    if isinstance(item, Filter):
        return Filter(tuple(_on_link(part, link) for part in item.items), item.any)
    return item if isinstance(item, Link) else replace(item, link=link)

"""Writes filter groups and conditions as SQL.

Values are numbered in the walk order of `crmclient.query.shape`, which gives them out in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from crmbox.engine.dialects.base import Dialect
from crmbox.engine.like_patterns import Token
from crmbox.engine.sql.fragment import Fragment, Slot, join
from crmbox.engine.sql.hierarchies import in_hierarchy
from crmbox.engine.sql.operands import Operand, name_of
from crmbox.engine.sql.operators import (
    COLUMN_COMPARISONS,
    DENIED,
    EMPTY_MATCHES_NEGATIONS,
    POSITIVE,
    Phrase,
    PhraseContext,
)
from crmbox.engine.sql.scope import JoinedSource, Scope, Source
from crmbox.engine.tables import text_search
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Condition, Filter, Link, Operator
from crmclient.query.bounds import MOST_CONDITIONS
from crmclient.query.families import OF_RECORDS_HIERARCHY, OPERATORS, Family

EVERY_ROW: Final = Fragment("1 = 1")

WriteLink: TypeAlias = Callable[["FilterWriter", Link], Fragment]
"""Writes a link that stands in a filter as a condition."""


class FilterWriter:
    """Writes the filters of one query, in the walk order. `values` counts the values used so far.

    `searches` are statements that select ids of the entity's records by a text index: no other record can
    match the filter. `link` writes the links in a filter. `construct`, a parameter of most
    methods, names the condition in error messages.
    """

    def __init__(self, scope: Scope, dialect: Dialect, link: WriteLink) -> None:
        self.scope = scope
        self._dialect = dialect
        self._link = link
        self.values = 0
        self.searches: list[Fragment] = []
        self._conditions = 0

    def write(self, group: Filter | None, source: Source) -> Fragment | None:
        """Return a filter as SQL; None for one that matches every row.

        `source` is the entity or link that the filter belongs to. A link's filter may name the link and its
        parent.
        """
        if group is None or not group.items:
            return None
        return self._group(group, source, needed=True)

    def _group(self, group: Filter, source: Source, *, needed: bool) -> Fragment:
        """Write a group as one condition in brackets. `needed` as in `_condition`."""
        parts = list(self._items(group, source, needed=needed and not group.any))
        if not parts:
            return EVERY_ROW
        joined = join(" OR " if group.any else " AND ", parts)
        return Fragment(f"({joined.text})", joined.slots)

    def _items(self, group: Filter, source: Source, *, needed: bool) -> Iterator[Fragment]:
        """Yield the conditions, the links and the groups of `group` as SQL. `needed` as in `_condition`."""
        for item in group.items:
            match item:
                case Condition():
                    yield self._condition(item, source, needed=needed)
                case Link():
                    yield self._link(self, item)
                case _:
                    yield self._group(item, source, needed=needed)

    def _condition(self, condition: Condition, source: Source, *, needed: bool) -> Fragment:
        """Return a condition as SQL.

        `needed`: only records that match it can be in the result, so an index may search for it; False inside
        an OR.
        """
        self._conditions += 1
        if self._conditions > MOST_CONDITIONS:
            raise InvalidQuery(f"A query can have at most {MOST_CONDITIONS} conditions.")
        construct = f"condition {condition.attribute} {condition.operator.value}"
        operand = self._operand(condition.link, condition.attribute, source, construct)
        if condition.operator in OF_RECORDS_HIERARCHY:
            return self._in_hierarchy(condition, operand, source, construct)
        if condition.value_of is not None:
            right = self._operand(*condition.value_of, source, construct)
            return _column_comparison(condition, operand, right, construct)
        # A negation is written as NOT (…) around the phrase of the operator that it denies.
        denied_operator = DENIED.get(condition.operator)
        phrase = POSITIVE[denied_operator or condition.operator]
        operand = self._compared_operand(condition.operator, phrase, operand, construct)
        if needed and denied_operator is None and phrase.pattern is not None:
            self._search(condition, phrase.pattern, source, construct)
        context = PhraseContext(operand, self._dialect)
        slots = self._slots(condition, phrase, context, construct)
        text = phrase.write(context)
        if denied_operator is not None:
            text = f"NOT ({text})"
            if EMPTY_MATCHES_NEGATIONS:
                text = f"({operand.value} IS NULL OR {text})"
        return Fragment(text, slots)

    def _in_hierarchy(
        self, condition: Condition, operand: Operand, source: Source, construct: str
    ) -> Fragment:
        """Write a condition such as `under`, which compares with a record and those above or below it."""
        # The result is not used. The call refuses an operand that cannot be equal to a record, which only
        # references and ids can.
        self._compared_operand(condition.operator, POSITIVE[Operator.EQ], operand, construct)
        targets = operand.attribute.targets
        if operand.attribute.is_primary_id:
            targets = (self._source(condition.link, source, construct).stored.entity.logical_name,)
        snapshot = self.scope.snapshot
        candidates = [snapshot.entity(name) for name in targets if name in snapshot]
        entities = [entity for entity in candidates if entity.parent_column is not None]
        if not entities:
            raise InvalidQuery(f"{construct}: the records that it names form no hierarchy.")
        if len(condition.values) != 1 or condition.value_of is not None:
            raise InvalidQuery(f"{construct}: one value needed, {len(condition.values)} given.")
        # The SQL of each entity's hierarchy takes the one value again, so the slot is repeated.
        text, times = in_hierarchy(operand.compared, condition.operator, entities, self._dialect.placeholder)
        slot = Slot(self.values, operand.encode, construct)
        self.values += 1
        return Fragment(text, (slot,) * times)

    def _search(
        self,
        condition: Condition,
        pattern: Callable[[str], list[Token]],
        source: Source,
        construct: str,
    ) -> None:
        """Add a search by text index for a condition on the entity itself, if the attribute has an index.

        `pattern` makes the tokens of the LIKE pattern that the operator means with a value. The slot takes
        the value that the condition is about to take, too: `self.values` is its index.
        """
        root = self.scope.root
        column = root.stored.columns.get(condition.attribute)
        if source is not root or condition.link is not None or column is None:
            return
        index = text_search(root.stored.definition, column.definition)
        select = None if index is None else self._dialect.found_by_search(index)
        if select is not None:
            parameter = self._dialect.search_parameter
            slot = Slot(self.values, lambda value: parameter(pattern(str(value))), construct)
            self.searches.append(Fragment(select, (slot,)))

    def _operand(self, alias: str | None, attribute: str, source: Source, construct: str) -> Operand:
        return self.scope.operand(self._source(alias, source, construct), attribute, construct)

    def _source(self, alias: str | None, source: Source, construct: str) -> Source:
        """Return the source with `alias`, which a condition in the filter of `source` names.

        Raises InvalidQuery where SQL could not see it from there: a link's filter sees only the link and its
        parent; the query's own filter does not see a link that does not join, such as one of the type `any`.
        """
        named_source = source if alias is None else self.scope.source(alias, construct)
        if isinstance(source, JoinedSource):
            if named_source is not source and named_source is not source.parent:
                raise InvalidQuery(
                    f"{construct}: a link's filter can name the link itself or its parent, not {alias!r}."
                )
        elif not named_source.takes_part:
            raise InvalidQuery(f"{construct}: what is in the link {alias!r} cannot be named outside of it.")
        return named_source

    def _compared_operand(
        self, operator: Operator, phrase: Phrase, operand: Operand, construct: str
    ) -> Operand:
        """Return the operand that the operator compares: of a lookup, the name of its record for text
        operators.

        Raises InvalidQuery when the operator does not apply to the operand.
        """
        if operand.family not in OPERATORS[operator]:
            raise InvalidQuery(f"{construct}: the operator does not apply to a {operand.family.value}.")
        if phrase.by_name and operand.family is Family.REFERENCE:
            return name_of(operand, self.scope.snapshot)
        return operand

    def _slots(
        self, condition: Condition, phrase: Phrase, context: PhraseContext, construct: str
    ) -> tuple[Slot, ...]:
        """Return the parameters of a condition, in the order of the query's values. Raises InvalidQuery for a
        wrong number of values.
        """
        encoders = phrase.encoders(context)
        if phrase.values is not None and phrase.values != len(condition.values):
            needed_values = ("no value", "one value", "two values")[phrase.values]
            raise InvalidQuery(f"{construct}: {needed_values} needed, {len(condition.values)} given.")
        slots = tuple(Slot(self.values + offset, encode, construct) for offset, encode in enumerate(encoders))
        self.values += len(slots)
        return slots


def _column_comparison(condition: Condition, left: Operand, right: Operand, construct: str) -> Fragment:
    """Return the SQL that compares two attributes. As with values, `ne` holds where one of them is empty.

    `construct` names the condition in errors. Raises InvalidQuery.
    """
    sign = COLUMN_COMPARISONS.get(condition.operator)
    if sign is None:
        raise InvalidQuery(f"{construct}: this operator cannot compare two attributes.")
    if condition.values:
        raise InvalidQuery(f"{construct}: give a value or another attribute, not both.")
    check_comparable(left, right, construct)
    text = f"{left.compared} {sign} {right.compared}"
    # The sign of NE is "=", and is denied here. With NULL, the comparison and its denial are both NULL.
    if condition.operator is Operator.NE:
        empty = f"{left.compared} IS NULL OR {right.compared} IS NULL OR "
        text = f"({empty if EMPTY_MATCHES_NEGATIONS else ''}NOT ({text}))"
    return Fragment(text)


_GUIDS: Final = frozenset({Family.GUID, Family.REFERENCE})


def check_comparable(left: Operand, right: Operand, construct: str) -> None:
    """Raise InvalidQuery unless the two operands are of the same kind. Ids and references can be compared.

    `construct` names the part of the query in the message.
    """
    guids = left.family in _GUIDS and right.family in _GUIDS
    same = left.family is right.family and left.storage is right.storage and left.family is not Family.FILE
    if not (guids or same):
        raise InvalidQuery(
            f"{construct}: {left.label} ({left.attribute.type.value}) and {right.label} "
            f"({right.attribute.type.value}) cannot be compared."
        )

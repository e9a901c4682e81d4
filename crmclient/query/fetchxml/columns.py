"""The elements attribute and order."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from crmclient.query.ast import Aggregate, DateGrouping, Order
from crmclient.query.designed import DesignedColumn
from crmclient.query.fetchxml.aliases import Aliases
from crmclient.query.fetchxml.elements import ElementReader
from crmclient.sentences import Sentence

Word = TypeVar("Word", bound=Enum)


def read_column(attribute: ElementReader, *, aggregate: bool) -> DesignedColumn:
    """Read an attribute element. Mistakes are noted as problems."""
    attribute.ignore("addedby", "build")
    attribute.refuse("rowaggregate", Sentence("hierarchies are not counted"))
    column = DesignedColumn(
        attribute.required_name(),
        attribute.name("alias"),
        _word(attribute, "aggregate", Aggregate),
        attribute.flag("groupby"),
        _word(attribute, "dategrouping", DateGrouping),
        attribute.flag("distinct"),
        attribute.flag("usertimezone", default=True),
    )
    attribute.finish()
    attribute.refuse_children()
    # One that is not supported is refused itself, and still says that the column is meant to be aggregated.
    is_aggregated = bool(attribute.element.get("aggregate"))
    for problem in _misuses(column, aggregate=aggregate, is_aggregated=is_aggregated):
        attribute.add_problem(problem)
    return column


def read_order(order: ElementReader, holder: str | None, aliases: Aliases, *, aggregate: bool) -> Order:
    """Read an order of the entity, or of the link `holder`. Mistakes are noted as problems."""
    attribute, alias = order.name("attribute"), order.name("alias")
    descending = order.flag("descending")
    entity_name = order.text("entityname")
    link = holder
    if entity_name:
        try:
            # None: wherever the order stands, the name of the query's entity means that entity.
            link = aliases.resolve(entity_name, None)
        except ValueError as error:
            order.add_problem(str(error))
    order.finish()
    order.refuse_children()
    if aggregate and (attribute or not alias):
        order.add_problem(Sentence("aggregate queries are sorted by the alias of a column"))
    elif not aggregate and (alias or not attribute):
        order.add_problem(Sentence("only aggregate queries are sorted by alias; give an attribute"))
    return Order(alias=alias, descending=descending) if alias else Order(attribute, None, link, descending)


def _word(reading: ElementReader, name: str, words: type[Word]) -> Word | None:
    """Return the XML attribute `name` as one of `words`; None without it. Any other word is noted as a
    problem.
    """
    text = reading.text(name)
    if not text:
        return None
    try:
        return words(text)
    except ValueError:
        choices = ", ".join(str(word.value) for word in words)
        reading.add_problem(
            Sentence(
                "%(name)s %(text)s is not supported; there are %(known)s",
                name=name,
                text=repr(text),
                known=choices,
            )
        )
        return None


def _misuses(column: DesignedColumn, *, aggregate: bool, is_aggregated: bool) -> list[str]:
    """Return what is wrong with a column, as a sentence each."""
    is_known = is_aggregated == (column.aggregate is not None)
    # Pairs of whether a mistake was made, and what is said of it.
    if not aggregate:
        mistakes = [
            (
                is_aggregated or column.group_by,
                Sentence('aggregate and groupby need aggregate="true" on fetch'),
            )
        ]
    else:
        mistakes = [
            (column.alias is None, Sentence("a column of an aggregate query needs an alias")),
            (
                is_aggregated == column.group_by,
                Sentence("a column of an aggregate query is either grouped or aggregated"),
            ),
        ]
    mistakes += [
        (
            column.date_grouping is not None and not column.group_by,
            Sentence("dategrouping needs groupby"),
        ),
        (
            column.distinct and is_known and column.aggregate is not Aggregate.COUNT_COLUMN,
            Sentence("distinct belongs to the aggregate countcolumn"),
        ),
    ]
    return [message for is_made, message in mistakes if is_made]

"""What a query's filters and its order cost on a platform that tells of its indexes, in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from crmclient import Indexes, TellsIndexes
from crmclient.errors import PlatformError
from crmclient.query.ast import Operator
from crmclient.query.designed import DesignedCondition, DesignedQuery, UserOperator
from designer.configuration import Endpoint
from designer.endpoint_facts.query_parameters import conditions
from designer.platform import get_platform

# Operators that compare a piece of a text: an index of pieces serves them, an index of whole values does not.
_TEXT_SEARCHES = frozenset({Operator.CONTAINS, Operator.LIKE, Operator.ENDS_WITH, Operator.BEGINS_WITH})
# Operators that most records meet, as they negate or ask for empty values: an index is of no use to them.
_BROAD_OPERATORS = frozenset(
    {
        Operator.NE,
        Operator.NULL,
        Operator.NOT_NULL,
        Operator.NOT_BETWEEN,
        Operator.NOT_IN,
        Operator.NOT_LIKE,
        Operator.NOT_BEGINS_WITH,
        Operator.NOT_ENDS_WITH,
        Operator.NOT_CONTAIN_VALUES,
        Operator.NOT_UNDER,
        UserOperator.NE_USER,
        UserOperator.NE_BUSINESS_UNIT,
    }
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one part of a query, in `words`. `part` is what is filtered or sorted by.

    `command` adds the missing index; it is empty when no index would help.
    """

    part: str
    words: str
    command: str = ""


def costs_of(endpoint: Endpoint) -> list[Cost]:
    """Return the costs of the endpoint's own query, each once; nothing of what the platform does not tell."""
    platform, query = get_platform(), endpoint.definition.settings.designed_query
    if query is None or not isinstance(platform, TellsIndexes):
        return []
    try:
        indexes = {name: platform.indexes(name) for name in _compared_entities(query)}
    except PlatformError:
        return []
    costs = [
        _cost_of_condition(entity, condition, told)
        for entity, condition in conditions(query)
        if (told := indexes.get(entity)) is not None
    ]
    # An index serves the first order only, and only one of the entity that the query is of.
    first_order, own_indexes = query.orders[0] if query.orders else None, indexes[query.entity]
    if first_order is not None and first_order.attribute and first_order.link is None and own_indexes:
        costs.append(_cost_of_order(query.entity, first_order.attribute, own_indexes))
    return list(dict.fromkeys(costs))


def _compared_entities(query: DesignedQuery) -> set[str]:
    """Return the entities whose attributes the query compares, and its own."""
    return {query.entity, *(entity for entity, _condition in conditions(query) if entity)}


def _cost_of_condition(entity: str, condition: DesignedCondition, indexes: Indexes) -> Cost:
    """Return what a condition on an attribute of `entity` costs."""
    attribute, operator = condition.attribute, condition.operator
    part = f"{entity}.{attribute} {operator.value}"
    # An index orders the values of one attribute over all records. What compares two attributes of a record
    # reads both of each record.
    if operator in _BROAD_OPERATORS or condition.value_of is not None:
        return Cost(part, _words_on_reading_all(indexes))
    if operator in _TEXT_SEARCHES:
        option, indexed, indexable = " --contains", indexes.searched, indexes.searchable
    else:
        option, indexed, indexable = "", indexes.compared, indexes.comparable
    if attribute in indexed:
        return Cost(part, _("an index finds the records"))
    command = f"manage.py crmindex {entity} {attribute}{option}" if attribute in indexable else ""
    return Cost(part, _words_on_reading_all(indexes), command)


def _cost_of_order(entity: str, attribute: str, indexes: Indexes) -> Cost:
    """Return what it costs to sort records of `entity` by an attribute."""
    # makemessages finds no `_()` inside an f-string, so the name stands apart.
    name = _("sorted")
    part = f"{entity}.{attribute} {name}"
    if attribute in indexes.sorted:
        return Cost(part, _("an index finds the records"))
    command = f"manage.py crmindex {entity} {attribute}" if attribute in indexes.sortable else ""
    return Cost(part, _words_on_reading_all(indexes), command)


def _words_on_reading_all(indexes: Indexes) -> str:
    """Say that no index helps, with the number of records as the reader's language writes it."""
    count = number_format(indexes.records, force_grouping=True)
    return _("the platform reads every record, about %(count)s") % {"count": count}

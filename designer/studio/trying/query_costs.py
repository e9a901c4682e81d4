"""What a query's filters and its order cost on a platform that tells of its indexes, in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from crmclient import Indexes, TellsIndexes
from crmclient.errors import PlatformError
from crmclient.query.ast import Operator
from crmclient.query.designed import DesignedOperator, DesignedQuery
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
    """Return the costs of the endpoint's own query, each once; nothing when the platform does not tell."""
    platform, query = get_platform(), endpoint.definition.settings.designed_query
    if query is None or not isinstance(platform, TellsIndexes):
        return []
    try:
        indexes = {name: platform.indexes(name) for name in _compared_entities(query)}
    except PlatformError:
        return []
    costs = [
        _cost(entity, condition.attribute, condition.operator, indexes[entity])
        for entity, condition in conditions(query)
        if entity in indexes
    ]
    # An index serves the first order only, and only one of the entity that the query is of.
    first_order = query.orders[0] if query.orders else None
    if first_order is not None and first_order.attribute and first_order.link is None:
        costs.append(_cost(query.entity, first_order.attribute, None, indexes[query.entity]))
    return list(dict.fromkeys(costs))


def _compared_entities(query: DesignedQuery) -> set[str]:
    """Return the entities whose attributes the query compares, and its own."""
    return {query.entity, *(entity for entity, _condition in conditions(query) if entity)}


def _cost(entity: str, attribute: str, operator: DesignedOperator | None, indexes: Indexes) -> Cost:
    """Return what a condition or an order (`operator` None) costs the CRM in the box, and the command that
    would add an index.
    """
    # Texts inside of f-strings are not found for the catalogues.
    name = _("sorted") if operator is None else operator.value
    part = f"{entity}.{attribute} {name}"
    is_text_search = operator in _TEXT_SEARCHES
    if is_text_search:
        indexed, could_be_indexed = indexes.searched, indexes.searchable
    elif operator is None:
        indexed, could_be_indexed = indexes.sorted, indexes.sortable
    else:
        indexed, could_be_indexed = indexes.compared, indexes.comparable
    is_broad = operator in _BROAD_OPERATORS
    if attribute in indexed and not is_broad:
        return Cost(part, _("an index finds the records"))
    words = _("the platform reads every record, about %(count)s") % {"count": f"{indexes.records:,}"}
    if is_broad or attribute not in could_be_indexed:
        return Cost(part, words)
    option = " --contains" if is_text_search else ""
    return Cost(part, words, f"manage.py crmindex {entity} {attribute}{option}")

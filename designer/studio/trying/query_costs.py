"""What a query's filters and its order cost on a platform that tells of its indexes, in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from crmclient import Indexes, TellsIndexes
from crmclient.errors import PlatformError
from crmclient.query.ast import Operator
from crmclient.query.designed import DesignedQuery
from designer.configuration import Endpoint
from designer.endpoint_facts.query_parameters import conditions
from designer.platform import get_platform

_PIECES = frozenset({Operator.CONTAINS, Operator.LIKE, Operator.ENDS_WITH, Operator.BEGINS_WITH})
# What denies or asks for emptiness meets too many records for an index to be of use.
_BROAD = frozenset(
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
    """The cost of one part of a query.

    `command` adds the missing index; it is empty when no index would help.
    """

    part: str
    words: str
    command: str = ""


def costs_of(endpoint: Endpoint) -> list[Cost]:
    """Return the costs of the endpoint's own query; nothing when the platform does not tell."""
    platform, query = get_platform(), endpoint.definition.settings.designed_query
    if query is None or not isinstance(platform, TellsIndexes):
        return []
    try:
        indexes = {name: platform.indexes(name) for name in _entities(query)}
    except PlatformError:
        return []
    costs = [
        _cost(entity, condition.attribute, condition.operator, indexes[entity])
        for entity, condition in conditions(query)
        if entity in indexes
    ]
    if query.orders and query.orders[0].attribute and query.orders[0].link is None:
        costs.append(_cost(query.entity, query.orders[0].attribute, None, indexes[query.entity]))
    return list(dict.fromkeys(costs))


def _entities(query: DesignedQuery) -> set[str]:
    return {query.entity, *(entity for entity, _condition in conditions(query) if entity)}


def _cost(entity: str, attribute: str, operator: object, indexes: Indexes) -> Cost:
    """Return what a condition or an order (`operator` None) costs the CRM in the box, and the command that
    would add an index.
    """
    is_piece = operator in _PIECES
    name = _("sorted") if operator is None else str(getattr(operator, "value", operator))
    part = f"{entity}.{attribute} {name}"
    if operator not in _BROAD and attribute in (indexes.searched if is_piece else indexes.sorted):
        return Cost(part, _("an index finds the records"))
    words = _("the platform reads every record, about %(count)s") % {"count": f"{indexes.records:,}"}
    if operator in _BROAD or attribute not in (indexes.searchable if is_piece else indexes.sortable):
        return Cost(part, words)
    option = " --contains" if is_piece else ""
    return Cost(part, words, f"manage.py crmindex {entity} {attribute}{option}")

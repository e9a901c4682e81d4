"""Filters that row rules often begin with: the records that a caller owns, or stands in a lookup of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crmclient.metadata import Attribute
from crmclient.query.fetchxml import parse_filter
from designer.access_control.access_matrix import types_in_use
from designer.configuration import Configuration
from designer.queries.query_wording import filter_in_words
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable

# At most this many lookups that may hold the caller's record are offered.
_MOST_LOOKUPS = 3


def usual_filters(entity: str, configuration: Configuration, metadata: Metadata) -> list[dict[str, str]]:
    """Return the filters, each as FetchXML (`filter`) and in words (`words`).

    There are none while the metadata of the entity is unavailable.
    """
    try:
        attributes = metadata.attributes(entity)
        return [
            {"filter": text, "words": filter_in_words(parse_filter(text), entity, metadata.attributes)}
            for text in _filters(entity, attributes, configuration, metadata)
        ]
    except MetadataUnavailable:
        return []


def _filters(
    entity: str, attributes: Mapping[str, Attribute], configuration: Configuration, metadata: Metadata
) -> Iterator[str]:
    """Yield filters, as FetchXML, that often make a row rule: records that the caller owns, and records whose
    lookup points at the caller.
    """
    system = metadata.conventions.of(entity)
    if system.ownership is not None:
        if system.ownership.attribute in attributes:
            yield _filter_of_condition(system.ownership.attribute, "eq-userid")
        if system.ownership.unit is not None and system.ownership.unit in attributes:
            yield _filter_of_condition(system.ownership.unit, "eq-businessid")
    entities_of_callers = {type.entity for type in types_in_use(configuration) if type.entity}

    def may_hold_caller(attribute: Attribute) -> bool:
        """Whether the attribute may point at the record of a caller: a lookup to it, or the id of that
        record.
        """
        targets = [entity] if attribute.is_primary_id else attribute.targets
        return attribute.readable and not entities_of_callers.isdisjoint(targets)

    def rank(name: str) -> tuple[bool, bool, str]:
        # The caller's own record first, then required lookups: they tell best whose a record is.
        return not attributes[name].is_primary_id, not attributes[name].is_required, name

    names = [name for name, attribute in attributes.items() if may_hold_caller(attribute)]
    for name in sorted(names, key=rank)[:_MOST_LOOKUPS]:
        yield _filter_of_condition(name, "eq", ' value="@user.id"')


def _filter_of_condition(attribute: str, operator: str, value: str = "") -> str:
    """Return the FetchXML of a filter with one condition. `value` is its attribute in XML, with a space
    before it.
    """
    return f'<filter type="and"><condition attribute="{attribute}" operator="{operator}"{value}/></filter>'

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
            yield _filter(system.ownership.attribute, "eq-userid")
        if system.ownership.unit is not None and system.ownership.unit in attributes:
            yield _filter(system.ownership.unit, "eq-businessid")
    records = {type.entity for type in types_in_use(configuration) if type.entity}
    lookups = [
        name
        for name, attribute in attributes.items()
        if attribute.readable
        and (not records.isdisjoint(attribute.targets) if not attribute.is_primary_id else entity in records)
    ]
    # Required lookups first: they tell best whose a record is.
    lookups.sort(
        key=lambda name: (not attributes[name].is_primary_id, not attributes[name].is_required, name)
    )
    for name in lookups[:_MOST_LOOKUPS]:
        yield _filter(name, "eq", ' value="@user.id"')


def _filter(attribute: str, operator: str, value: str = "") -> str:
    return f'<filter type="and"><condition attribute="{attribute}" operator="{operator}"{value}/></filter>'

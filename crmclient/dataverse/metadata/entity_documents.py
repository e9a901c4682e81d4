"""The document of an entity, made of the JSON of the requests that its parts were read by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from crmclient.dataverse.metadata import metadata_json
from crmclient.dataverse.metadata.documents import EntityDocument
from crmclient.metadata import Attribute, OptionSet
from crmclient.metadata_parts import RELATIONSHIPS

Found = TypeVar("Found")


def entity_document(
    name: str,
    items: Sequence[Mapping[str, Any]],
    related: Mapping[str, Any],
    choices: Mapping[str, OptionSet],
    unknown: Mapping[str, str],
) -> EntityDocument:
    """Return the document of the entity `name`: `items` are its attributes, `related` has its relationships,
    `choices` are the option sets of its choices, by attribute; `unknown` is that of the document. Raises what
    reading its JSON raises.
    """
    # Documents are compared, and each request has an order of its own.
    in_order = sorted(items, key=itemgetter("LogicalName"))
    attributes = [metadata_json.attribute(item, name, choices) for item in in_order]
    relationships = tuple(sorted(metadata_json.relationships(related), key=attrgetter("name")))
    parents = {
        relationship.referencing_attribute
        for relationship in relationships
        if relationship.is_hierarchical and relationship.referenced == relationship.referencing == name
    }
    return EntityDocument(
        attributes={
            item.logical_name: replace(
                item,
                is_parent=None
                if RELATIONSHIPS in unknown and name in item.targets
                else item.logical_name in parents,
            )
            for item in attributes
            if isinstance(item, Attribute)
        },
        relationships=relationships,
        navigation={
            lookup: _sorted(by_target)
            for lookup, by_target in _sorted(metadata_json.navigation(related)).items()
        },
        collections=_sorted(metadata_json.collections(related, name)),
        unknown=unknown,
    )


def _sorted(by_name: Mapping[str, Found]) -> dict[str, Found]:
    return dict(sorted(by_name.items()))


def option_sets_of_entity(item: Mapping[str, Any]) -> dict[str, OptionSet]:
    """Return the option sets in the complete definition of an entity, by attribute."""
    return {
        attribute["LogicalName"]: metadata_json.option_set(attribute["OptionSet"], item["LogicalName"])
        for attribute in item["Attributes"]
        if "Options" in (attribute.get("OptionSet") or {})
    }


def option_sets_of_choices(answer: Mapping[str, Any], entity: str) -> dict[str, OptionSet]:
    """Return the option sets in an answer that lists choice attributes of one type, by attribute."""
    return {
        row["LogicalName"]: metadata_json.option_set(row.get("GlobalOptionSet") or row["OptionSet"], entity)
        for row in answer["value"]
        if row.get("GlobalOptionSet") or row.get("OptionSet")
    }

"""The platform's metadata for the studio's scripts: entities, and what filters and queries can be made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from crmclient import OffersViews, Platform, SavedViews
from crmclient.errors import MissingPrivilege, PlatformError, UnknownEntity
from crmclient.metadata import Attribute, Relationship
from crmclient.query.ast import Aggregate, DateGrouping
from crmclient.query.designed import OPERATORS, values_taken
from crmclient.query.families import FAMILY, Family
from designer.endpoint_facts.parameter_types import parameter_types
from designer.platform import get_platform
from designer.platform_failures import failure_words
from designer.queries.advanced_find import operator_label, operators_of
from designer.readiness import Metadata
from designer.readiness.metadata import MetadataUnavailable
from designer.studio.endpoint_form.page_data import described_attributes
from designer.studio.metadata.unavailable import unavailable_answer
from designer.studio.pages.base import StudioView

_TEXTS = {
    "attribute": _("Attribute"),
    "operator": _("Operator"),
    "value": _("Value"),
    "several": _("several, with commas between"),
    "yes": _("Yes"),
    "no": _("No"),
    "all": _("all of these hold"),
    "any": _("any of these holds"),
    "group": _("Group"),
    "condition": _("Condition"),
    "remove": _("Remove"),
    "move": _("Move: press the arrow keys up and down, or drag"),
    "caller": _("From the caller: a parameter of the attribute's name"),
    "search": _("Search by name, or @…"),
    "compared": _("Compared with a value"),
    "relative": _("Relative to now"),
    "entity": _("Entity"),
    "start": _("Start from a view"),
    "personal": _("personal"),
    "usual": _("Start with"),
    "columns": _("Columns"),
    "column": _("Column"),
    "everything": _("All columns"),
    "output": _("Output name"),
    "summaries": _("Summarize: group rows, count and add up"),
    "function": _("Function"),
    "grouped": _("Grouped by"),
    "each": _("each value"),
    "filter": _("Conditions"),
    "orders": _("Order"),
    "order": _("Order by"),
    "direction": _("Direction"),
    "ascending": _("ascending"),
    "descending": _("descending"),
    "links": _("Linked entities"),
    "link": _("Linked entity"),
    "linked": _("Rows without a linked record"),
    "existence": _("Condition on linked records"),
    "unsupported_part": _("This part cannot be shown as rows. It is kept as it is."),
    "unsupported": _("This operator is not supported. Choose another one."),
    "unreadable": _("The text is not complete FetchXML yet. Correct it under FetchXML."),
}
_FUNCTIONS = {
    "group": _("Group by"),
    Aggregate.COUNT.value: _("Count of rows"),
    Aggregate.COUNT_COLUMN.value: _("Count of values"),
    Aggregate.SUM.value: _("Sum"),
    Aggregate.AVG.value: _("Average"),
    Aggregate.MIN.value: _("Smallest"),
    Aggregate.MAX.value: _("Largest"),
}
_DATE_GROUPINGS = {
    DateGrouping.DAY.value: _("day"),
    DateGrouping.WEEK.value: _("week"),
    DateGrouping.MONTH.value: _("month"),
    DateGrouping.QUARTER.value: _("quarter"),
    DateGrouping.YEAR.value: _("year"),
    DateGrouping.FISCAL_PERIOD.value: _("fiscal period"),
    DateGrouping.FISCAL_YEAR.value: _("fiscal year"),
}
# What an editor says at a row that cannot be saved yet, by what the row lacks.
_INCOMPLETE_ROWS = {
    "attribute": _("Choose an attribute, or remove this row."),
    "operator": _("Choose an operator, or remove this row."),
    "value": _("Enter a value, or remove this row."),
}
_LINK_TYPES = (
    ("inner", _("leave out rows without a linked record")),
    ("outer", _("keep rows without a linked record")),
    ("matchfirstrowusingcrossapply", _("join one linked record, leave out rows without one")),
    ("exists", _("keep rows that have a linked record")),
    ("in", _("keep rows that have a linked record (in)")),
)
# Of links that stand among conditions.
_EXISTENCE_TYPES = (
    ("any", _("there is one")),
    ("not any", _("there is none")),
    ("all", _("there are records, but none of these")),
    ("not all", _("there is a record (not all)")),
)


class MetadataForScripts(StudioView):
    """Answers with JSON for the editors of filters and queries.

    Without `entity`: all entities and operators, and the editors' own texts. With it: the attributes of that
    entity, and the entities that it can be linked to.
    """

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> JsonResponse:
        platform = get_platform()
        try:
            name = request.GET.get("entity", "")
            if name:
                return JsonResponse(_described_entity(platform, name))
            return JsonResponse(
                {
                    "entities": _labelled_entities(platform),
                    "operators": _described_operators(),
                    "link_types": [(name, str(words)) for name, words in _LINK_TYPES],
                    "existence_types": [(name, str(words)) for name, words in _EXISTENCE_TYPES],
                    "texts": _in_users_language(_TEXTS)
                    | {
                        "functions": _in_users_language(_FUNCTIONS),
                        "dates": _in_users_language(_DATE_GROUPINGS),
                        "lacking": _in_users_language(_INCOMPLETE_ROWS),
                    },
                }
            )
        except PlatformError as error:
            return unavailable_answer(MetadataUnavailable(error))
        except MetadataUnavailable as error:
            return unavailable_answer(error)


class ViewsForScripts(StudioView):
    """Answers with the platform's views of `entity` as JSON, each a start for a query.

    There are none on a platform that does not offer views. `denied` says why those of the organisation are
    unknown; it is empty where they are known.
    """

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> JsonResponse:
        platform = get_platform()
        try:
            entity = request.GET.get("entity", "")
            saved = platform.saved_views(entity) if isinstance(platform, OffersViews) else SavedViews()
        except PlatformError as error:
            return unavailable_answer(error)
        if saved.denied is not None and not saved.views:
            return unavailable_answer(saved.denied)
        views = [asdict(view) for view in saved.views]
        denied = "" if saved.denied is None else failure_words(saved.denied)
        return JsonResponse({"views": views, "denied": denied})


def _in_users_language(texts: Mapping[str, Promise]) -> dict[str, Any]:
    """Return the texts in the language of the request, by the same keys: JSON takes no lazy texts."""
    return {key: str(text) for key, text in texts.items()}


def _labelled_entities(platform: Platform) -> dict[str, Any]:
    """Return the entities by logical name in the order of their labels, as `picker.js` expects choices.

    Choices may have facts beside their labels. Entities have none.
    """
    entities = platform.entities().values()
    labelled = sorted(
        (entity.label.text() or entity.logical_name, entity.logical_name) for entity in entities
    )
    return {name: {"label": label, "facts": ""} for label, name in labelled}


def _described_operators() -> dict[str, Any]:
    """Return what scripts know of operators.

    `known` has all by name; `values` is the number of values that one takes, None for any number. `offered`
    has the operators of each family of attribute types, with labels that suit the family.
    """
    return {
        "known": {
            name: {"label": operator_label(name), "values": values_taken(operator)}
            for name, operator in OPERATORS.items()
        },
        "offered": {family.value: [asdict(offered) for offered in operators_of(family)] for family in Family},
    }


def _described_entity(platform: Platform, name: str) -> dict[str, Any]:
    """Return what the editors of queries know of an entity: its label, attributes, and links to others."""
    metadata = Metadata(platform)
    try:
        by_name = platform.attributes(name)
    except UnknownEntity:
        # A finding at the query names it. That is no fault, and to ask again would change nothing.
        return {"label": name, "attributes": {}, "links": []}
    attributes = described_attributes(by_name, name, metadata)
    for attribute, described in attributes.items():
        described |= _comparison_facts(by_name[attribute], name)
    try:
        links = [
            link
            for relationship in platform.relationships(name)
            for link in _links_by(platform, relationship, name, by_name)
        ]
    except MissingPrivilege:
        # The service may not read the relationships. The attributes are of use without them.
        links = []
    label = platform.entities()[name].label.text() or name
    return {"label": label, "attributes": attributes, "links": links}


def _comparison_facts(attribute: Attribute, entity: str) -> dict[str, Any]:
    """Return what conditions on an attribute of `entity` need to know of it.

    `family` decides which operators apply. `targets` are the entities whose records may be a value.
    `parameters` has the type of a parameter, by operator.
    """
    return {
        "family": FAMILY[attribute.type].value,
        # The value of a primary id is a record of the entity itself.
        "targets": [entity] if attribute.is_primary_id else list(attribute.targets),
        "parameters": parameter_types(attribute),
    }


def _links_by(
    platform: Platform, relationship: Relationship, name: str, attributes: Mapping[str, Attribute]
) -> list[dict[str, str]]:
    """Return the links from the entity `name` by a relationship; none where the platform names no lookup.

    A lookup makes two links: from the records that have it to the record that it names, and back. An entity
    that is related to itself gets both. `attributes` are those of the entity: a link by a lookup of its own
    has the lookup's label, because several may name records of one entity.
    """
    lookup = relationship.referencing_attribute
    if lookup is None:
        return []
    links = []
    entities = platform.entities()
    if not {relationship.referenced, relationship.referencing} <= entities.keys():
        # The platform relates entities that it does not let anybody query, too.
        return []
    primary = entities[relationship.referenced].primary_id
    if relationship.referencing == name:
        label = entities[relationship.referenced].label.text()
        own = attributes[lookup].label.text() if lookup in attributes else ""
        named = label if own in ("", label) else f"{label} – {own}"
        links.append(_link(relationship.referenced, primary, lookup, f"{named} ({lookup})"))
    if relationship.referenced == name:
        label = entities[relationship.referencing].plural_label.text()
        links.append(_link(relationship.referencing, lookup, primary, f"{label} ({lookup})"))
    return links


def _link(entity: str, attribute: str, parent_attribute: str, label: str) -> dict[str, str]:
    """Return a link in the terms of FetchXML: `from` is of the linked entity, `to` of the one that links."""
    return {"entity": entity, "from": attribute, "to": parent_attribute, "label": label}

"""The platform's metadata for the studio's scripts: entities, and what filters and queries can be made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from crmclient import OffersViews, Platform
from crmclient.errors import MissingPrivilege, PlatformError
from crmclient.metadata import Attribute, Relationship
from crmclient.query.ast import Aggregate, DateGrouping
from crmclient.query.designed import OPERATORS, values_taken
from crmclient.query.families import FAMILY, Family
from designer.endpoint_facts.parameter_types import parameter_types
from designer.platform import get_platform
from designer.queries.advanced_find import operator_label, operators_of
from designer.readiness import Metadata
from designer.studio.endpoint_form.page_data import described_attributes
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
    "linked": _("Rows without one"),
    "existence": _("Linked records"),
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
_DATES = {
    DateGrouping.DAY.value: _("day"),
    DateGrouping.WEEK.value: _("week"),
    DateGrouping.MONTH.value: _("month"),
    DateGrouping.QUARTER.value: _("quarter"),
    DateGrouping.YEAR.value: _("year"),
    DateGrouping.FISCAL_PERIOD.value: _("fiscal period"),
    DateGrouping.FISCAL_YEAR.value: _("fiscal year"),
}
# What a row says that cannot be saved yet.
_LACKING = {
    "attribute": _("Choose an attribute, or remove this row."),
    "operator": _("Choose an operator, or remove this row."),
    "value": _("Enter a value, or remove this row."),
}
_LINK_TYPES = (
    ("inner", _("leave out rows without one")),
    ("outer", _("keep rows without one")),
    ("matchfirstrowusingcrossapply", _("join one of them, leave out rows without one")),
    ("exists", _("keep rows that have one")),
    ("in", _("keep rows that have one (in)")),
)
# Of links that stand among conditions.
_EXISTENCE_TYPES = (
    ("any", _("there is one")),
    ("not any", _("there is none")),
    ("all", _("there are records, but none of these")),
    ("not all", _("there is a record (not all)")),
)


class MetadataOf(StudioView):
    """Without `entity` all entities and operators; with it, its attributes and what it can be linked to."""

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> JsonResponse:
        platform = get_platform()
        try:
            name = request.GET.get("entity", "")
            if name:
                return JsonResponse(_entity(platform, name))
            return JsonResponse(
                {
                    "entities": _entities(platform),
                    "operators": _operators(),
                    "link_types": [(name, str(words)) for name, words in _LINK_TYPES],
                    "existence_types": [(name, str(words)) for name, words in _EXISTENCE_TYPES],
                    "texts": _said(_TEXTS)
                    | {"functions": _said(_FUNCTIONS), "dates": _said(_DATES), "lacking": _said(_LACKING)},
                }
            )
        except PlatformError:
            return JsonResponse({"away": True}, status=503)


class ViewsOf(StudioView):
    """The views of `entity` that the platform has, each a start for a query: nothing where it offers none."""

    permission_required = "designer.view_endpoint"
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> JsonResponse:
        platform = get_platform()
        try:
            entity = request.GET.get("entity", "")
            views = platform.saved_views(entity) if isinstance(platform, OffersViews) else ()
        except PlatformError:
            return JsonResponse({"away": True}, status=503)
        return JsonResponse({"views": [asdict(view) for view in views]})


def _said(texts: Mapping[str, Promise]) -> dict[str, Any]:
    return {key: str(text) for key, text in texts.items()}


def _entities(platform: Platform) -> dict[str, Any]:
    entities = platform.entities().values()
    labelled = sorted(
        (entity.label.text() or entity.logical_name, entity.logical_name) for entity in entities
    )
    return {name: {"label": label, "facts": ""} for label, name in labelled}


def _operators() -> dict[str, Any]:
    """Return what scripts know of operators: `known` has all, `offered` by family those that apply to it, in
    its words.

    `values` is how many an operator takes, None for any number.
    """
    return {
        "known": {
            name: {"label": operator_label(name), "values": values_taken(operator)}
            for name, operator in OPERATORS.items()
        },
        "offered": {family.value: [asdict(offered) for offered in operators_of(family)] for family in Family},
    }


def _entity(platform: Platform, name: str) -> dict[str, Any]:
    """Return what the editors of queries know of an entity: its label, attributes, and links to others."""
    metadata = Metadata(platform)
    by_name = platform.attributes(name)
    attributes = described_attributes(by_name, name, metadata)
    for attribute, shown in attributes.items():
        shown |= _compared(by_name[attribute], name)
    try:
        links = [
            link
            for relationship in platform.relationships(name)
            for link in _links(platform, relationship, name)
        ]
    except MissingPrivilege:
        # What an entity can be linked to is not known, and its attributes are.
        links = []
    label = platform.entities()[name].label.text() or name
    return {"label": label, "attributes": attributes, "links": links}


def _compared(attribute: Attribute, entity: str) -> dict[str, Any]:
    """Return what conditions on an attribute may compare.

    `parameters` has the types of parameters by operator.
    """
    return {
        "family": FAMILY[attribute.type].value,
        "targets": [entity] if attribute.is_primary_id else list(attribute.targets),
        "parameters": parameter_types(attribute),
    }


def _links(platform: Platform, relationship: Relationship, name: str) -> list[dict[str, str]]:
    """A lookup leads from the many to the one, and back."""
    lookup = relationship.referencing_attribute
    if lookup is None:
        return []
    links = []
    entities = platform.entities()
    primary = entities[relationship.referenced].primary_id
    if relationship.referencing == name:
        label = entities[relationship.referenced].label.text()
        links.append(_link(relationship.referenced, primary, lookup, f"{label} ({lookup})"))
    if relationship.referenced == name:
        label = entities[relationship.referencing].plural_label.text()
        links.append(_link(relationship.referencing, lookup, primary, f"{label} ({lookup})"))
    return links


def _link(entity: str, attribute: str, parent_attribute: str, label: str) -> dict[str, str]:
    return {"entity": entity, "from": attribute, "to": parent_attribute, "label": label}

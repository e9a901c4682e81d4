"""The platform's metadata for the studio's scripts: entities, and what filters and queries can be made of."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext_lazy as _

from crmclient import Platform
from crmclient.errors import MissingPrivilege, PlatformError
from crmclient.metadata import Relationship
from crmclient.query.designed import OPERATORS, values_taken
from designer.platform import get_platform
from designer.readiness import Metadata
from designer.studio.endpoint_form.page_data import described_attributes
from designer.studio.pages.base import StudioView
from designer.words import operator_words

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
    "entity": _("Entity"),
    "columns": _("Columns"),
    "column": _("Column"),
    "alias": _("Alias"),
    "filter": _("Conditions"),
    "orders": _("Order"),
    "order": _("Order by"),
    "direction": _("Direction"),
    "ascending": _("ascending"),
    "descending": _("descending"),
    "links": _("Linked entities"),
    "link": _("Linked entity"),
    "linked": _("Rows without one"),
    "inner": _("leave out rows without one"),
    "outer": _("keep rows without one"),
    "first": _("join one of them, leave out rows without one"),
    "exists": _("keep rows that have one"),
    "exists_in": _("keep rows that have one (in)"),
    "existence": _("Whether there are linked records"),
    "has_any": _("there is one"),
    "has_none": _("there is none"),
    "has_only_others": _("there are some, but none of these"),
    "has_not_all": _("there is one (not all)"),
    "unsupported": _("This operator is not supported. Choose another one."),
    "unreadable": _("This FetchXML cannot be shown as rows. Correct the text below."),
}


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
            texts = {key: str(text) for key, text in _TEXTS.items()}
            return JsonResponse({"entities": _entities(platform), "operators": _operators(), "texts": texts})
        except PlatformError:
            return JsonResponse({"away": True}, status=503)


def _entities(platform: Platform) -> dict[str, Any]:
    known = platform.entities().values()
    labelled = sorted((entity.label.text() or entity.logical_name, entity.logical_name) for entity in known)
    return {name: {"label": label, "facts": ""} for label, name in labelled}


def _operators() -> list[dict[str, Any]]:
    """`values`: how many are taken, None for any number."""
    return [
        {"name": name, "label": operator_words(name), "values": values_taken(operator)}
        for name, operator in OPERATORS.items()
    ]


def _entity(platform: Platform, name: str) -> dict[str, Any]:
    metadata = Metadata(platform)
    attributes = described_attributes(platform.attributes(name), name, metadata)
    try:
        links = [link for known in platform.relationships(name) for link in _links(platform, known, name)]
    except MissingPrivilege:
        # What an entity can be linked to is not known, and its attributes are.
        links = []
    return {"attributes": attributes, "links": links}


def _links(platform: Platform, known: Relationship, name: str) -> list[dict[str, str]]:
    """A lookup leads from the many to the one, and back."""
    lookup = known.referencing_attribute
    if lookup is None:
        return []
    found = []
    entities = platform.entities()
    primary = entities[known.referenced].primary_id
    if known.referencing == name:
        label = entities[known.referenced].label.text()
        found.append(_link(known.referenced, primary, lookup, f"{label} ({lookup})"))
    if known.referenced == name:
        label = entities[known.referencing].plural_label.text()
        found.append(_link(known.referencing, lookup, primary, f"{label} ({lookup})"))
    return found


def _link(entity: str, own: str, of_parent: str, label: str) -> dict[str, str]:
    return {"entity": entity, "from": own, "to": of_parent, "label": label}

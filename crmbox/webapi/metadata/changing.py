"""PUT of metadata: labels, limits, what a delete does. Never of how values are stored."""

from __future__ import annotations

from dataclasses import replace

from crmbox.metadata import Change, change
from crmbox.webapi.errors import no_resource, unsupported
from crmbox.webapi.metadata.attribute_bodies import changed_attribute
from crmbox.webapi.metadata.bodies import Body
from crmbox.webapi.metadata.creating import body_of, cascade_of
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.label_bodies import merged
from crmbox.webapi.metadata.walking import ENTITIES, OPTION_SETS, RELATIONSHIPS, walk
from crmbox.webapi.request import Request, Response, no_content
from crmbox.webapi.routing import named
from crmclient.metadata import Label


@named(ENTITIES, "PUT")
@named(OPTION_SETS, "PUT")
@named(RELATIONSHIPS, "PUT")
def put(request: Request) -> Response:
    """Other languages' labels stay with the header `MSCRM.MergeLabels: true`."""
    place = walk(request.model.snapshot, request.path)
    if not isinstance(place.found, Item):
        raise no_resource(place.name)
    body = body_of(request)
    keep = request.headers.get("MSCRM.MergeLabels", "").lower() == "true"
    with change() as metadata:
        _change(metadata, place.found, body, keep=keep)
    return no_content()


def _change(metadata: Change, item: Item, body: Body, *, keep: bool) -> None:
    if item.type == "EntityMetadata":
        _entity(metadata, item.subject[0], body, keep=keep)
    elif item.is_a("AttributeMetadata"):
        entity, name = item.subject
        before = metadata.snapshot.entity(entity).columns[name].attribute
        metadata.alter_attribute(entity, changed_attribute(before, body, keep_labels=keep))
    elif item.is_a("OptionSetMetadataBase") and item.subject:
        before_set = metadata.snapshot.global_option_set(item.subject[0])
        label = _label(before_set.label, body, "DisplayName", keep=keep)
        metadata.alter_option_set(replace(before_set, label=label))
    elif item.is_a("RelationshipMetadataBase"):
        _relationship(metadata, item.subject[0], body)
    else:
        raise unsupported(f"PUT of {item.type}")


def _entity(metadata: Change, name: str, body: Body, *, keep: bool) -> None:
    before = metadata.snapshot.entity(name).entity
    metadata.alter_entity(
        replace(
            before,
            label=_label(before.label, body, "DisplayName", keep=keep),
            plural_label=_label(before.plural_label, body, "DisplayCollectionName", keep=keep),
            description=_label(before.description, body, "Description", keep=keep),
            has_notes=body.flag("HasNotes", default=before.has_notes),
        )
    )


def _relationship(metadata: Change, name: str, body: Body) -> None:
    before = next(found for found in metadata.snapshot.relationships if found.name == name)
    metadata.alter_relationship(replace(before, on_delete=cascade_of(body) or before.on_delete))


def _label(before: Label, body: Body, name: str, *, keep: bool) -> Label:
    return merged(before, body.label(name), keep=keep) if name in body else before

"""PUT of metadata: labels, limits, what a delete does. How values are stored never changes."""

from __future__ import annotations

from dataclasses import replace

from crmbox.metadata import Change, change
from crmbox.webapi.errors import no_resource, unsupported
from crmbox.webapi.metadata.attribute_bodies import changed_attribute
from crmbox.webapi.metadata.bodies import Body
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.label_bodies import merged_label
from crmbox.webapi.metadata.metadata_paths import ENTITIES, OPTION_SETS, RELATIONSHIPS, walk
from crmbox.webapi.metadata.metadata_post import body_of, cascade_of
from crmbox.webapi.request import Request, Response, no_content
from crmbox.webapi.routing import named
from crmclient.metadata import Label


@named(ENTITIES, "PUT")
@named(OPTION_SETS, "PUT")
@named(RELATIONSHIPS, "PUT")
def put(request: Request) -> Response:
    """Change the entity, attribute, option set or relationship in the path.

    With the header `MSCRM.MergeLabels: true`, labels stay in the languages that the body does not have.
    Raises WebApiError.
    """
    place = walk(request.model.snapshot, request.path)
    if not isinstance(place.target, Item):
        raise no_resource(place.name)
    body = body_of(request)
    keep_labels = request.headers.get("MSCRM.MergeLabels", "").lower() == "true"
    with change() as metadata:
        _change(metadata, place.target, body, keep_labels=keep_labels)
    return no_content()


def _change(metadata: Change, item: Item, body: Body, *, keep_labels: bool) -> None:
    """Change the definition of an item. With `keep_labels`, labels of languages that the body lacks stay."""
    if item.type == "EntityMetadata":
        _change_entity(metadata, item.subject[0], body, keep_labels=keep_labels)
    elif item.is_a("AttributeMetadata"):
        entity, name = item.subject
        before = metadata.snapshot.entity(entity).columns[name].attribute
        metadata.alter_attribute(entity, changed_attribute(before, body, keep_labels=keep_labels))
    elif item.is_a("OptionSetMetadataBase") and item.subject:
        before_set = metadata.snapshot.global_option_set(item.subject[0])
        label = _label(before_set.label, body, "DisplayName", keep_labels=keep_labels)
        metadata.alter_option_set(replace(before_set, label=label))
    elif item.is_a("RelationshipMetadataBase"):
        _change_relationship(metadata, item.subject[0], body)
    else:
        raise unsupported(f"PUT of {item.type}")


def _change_entity(metadata: Change, name: str, body: Body, *, keep_labels: bool) -> None:
    """Change the labels of an entity, and whether it has notes, as far as the body has them."""
    before = metadata.snapshot.entity(name).entity
    metadata.alter_entity(
        replace(
            before,
            label=_label(before.label, body, "DisplayName", keep_labels=keep_labels),
            plural_label=_label(before.plural_label, body, "DisplayCollectionName", keep_labels=keep_labels),
            description=_label(before.description, body, "Description", keep_labels=keep_labels),
            has_notes=body.flag("HasNotes", default=before.has_notes),
        )
    )


def _change_relationship(metadata: Change, name: str, body: Body) -> None:
    """Change what a delete of the referenced record does, if the body has it."""
    before = next(
        relationship for relationship in metadata.snapshot.relationships if relationship.name == name
    )
    metadata.alter_relationship(replace(before, on_delete=cascade_of(body) or before.on_delete))


def _label(before: Label, body: Body, name: str, *, keep_labels: bool) -> Label:
    """Return the label `name` of the body; the one from before if the body does not have it."""
    return merged_label(before, body.label(name), keep=keep_labels) if name in body else before

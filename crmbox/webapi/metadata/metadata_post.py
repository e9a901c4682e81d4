"""POST of metadata: entities, attributes, keys, relationships, global option sets. Tables change with it."""

from __future__ import annotations

from typing import Any, Final

from crmbox.engine.definitions import Ownership
from crmbox.metadata import Change, Extras, change
from crmbox.webapi.errors import WebApiError, bad_payload, unsupported
from crmbox.webapi.metadata.attribute_bodies import (
    NewAttribute,
    extras_of,
    read_attribute,
    read_lookup,
)
from crmbox.webapi.metadata.bodies import Body, read_option_set
from crmbox.webapi.metadata.items import Item, metadata_id
from crmbox.webapi.metadata.metadata_paths import ENTITIES, OPTION_SETS, RELATIONSHIPS, walk
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmbox.webapi.routing import named
from crmclient.metadata import AlternateKey, Cascade, Entity, Relationship
from crmclient.values import Guid

_CASCADES: Final = {"NoCascade": Cascade.REMOVE_LINK, **{cascade.value: cascade for cascade in Cascade}}


ROLES: Final = frozenset({"System Administrator", "System Customizer"})


def check_customizer(request: Request) -> None:
    """Raise WebApiError (403) if the caller may not change the metadata."""
    if request.user == request.platform.who():
        return
    if not ROLES & set(request.platform.user(request.user).security_roles):
        raise WebApiError(
            403, "0x80040220", f"The user {request.user} is missing the privilege prvWriteEntity."
        )


@named(ENTITIES, "POST")
@named(OPTION_SETS, "POST")
@named(RELATIONSHIPS, "POST")
def create(request: Request) -> Response:
    """Create an item in the collection that the path leads to, and answer with its address."""
    place = walk(request.model.snapshot, request.path)
    body = body_of(request)
    with change() as metadata:
        id = _create(metadata, place.name, place.within, body)
    url = f"{request.base}{request.raw_path}({id})"
    return no_content({"OData-EntityId": url, "Location": url})


@named("CreateEntities", "POST")
def create_entities(request: Request) -> Response:
    """Create several entities at once, as Microsoft's own Python client does for tables."""
    bodies = body_of(request).parts("Entities")
    if not bodies:
        raise bad_payload("The parameter 'Entities' needs at least one entity.")
    with change() as metadata:
        ids = [_create_entity(metadata, body) for body in bodies]
    context = f"{request.base}$metadata#Microsoft.Dynamics.CRM.CreateEntitiesResponse"
    return json_response({"@odata.context": context, "EntityIds": ids})


@named("CreateCustomerRelationships", "POST")
def create_customer(request: Request) -> Response:
    """Create a lookup that points at accounts and contacts."""
    return _create_lookup_to_several(request, "CreateCustomerRelationships")


@named("CreatePolymorphicLookupAttribute", "POST")
def create_polymorphic(request: Request) -> Response:
    """Create a lookup that points at any of several entities."""
    return _create_lookup_to_several(request, "CreatePolymorphicLookupAttribute")


def body_of(request: Request) -> Body:
    """Return the body of a change.

    Raises WebApiError, also for a caller who may not change the metadata.
    """
    check_customizer(request)
    return Body(request.json(), tuple(request.platform.languages()))


def _create(metadata: Change, name: str, parent: Item | None, body: Body) -> Guid:
    """Create an item in the collection `name`, of the metadata as a whole or of the item `parent`.

    Return its MetadataId. Raises WebApiError for a collection that takes none.
    """
    if parent is None:
        match name:
            case "EntityDefinitions":
                return _create_entity(metadata, body)
            case "GlobalOptionSetDefinitions":
                option_set = read_option_set(body)
                metadata.create_option_set(option_set)
                return metadata_id("optionset", option_set.name)
        return _create_relationship(metadata, body)
    [entity] = parent.subject
    match name:
        case "Attributes":
            return _create_attribute(metadata, entity, body)
        case "Keys":
            return _create_key(metadata, entity, body)
    raise unsupported(f"POST to {name}: POST to {RELATIONSHIPS} instead")


def _create_entity(metadata: Change, body: Body) -> Guid:
    """Create an entity with its attributes, one of which is its name. Return its MetadataId."""
    schema_name = body.needed("SchemaName")
    name = (body.text("LogicalName") or schema_name).lower()
    global_sets = metadata.snapshot.option_sets
    attributes = [read_attribute(item, name, global_sets) for item in body.parts("Attributes")]
    primary = [item.attribute for item in attributes if item.attribute.is_primary_name]
    if len(primary) != 1:
        raise bad_payload(f"{schema_name}: exactly one attribute has IsPrimaryName true.")
    entity = Entity(
        logical_name=name,
        entity_set=(body.text("EntitySetName") or plural(name)).lower(),
        label=body.label("DisplayName"),
        plural_label=body.label("DisplayCollectionName"),
        primary_id=f"{name}id",
        primary_name=primary[0].logical_name,
        description=body.label("Description"),
        has_notes=body.flag("HasNotes", default=False),
        is_custom=True,
    )
    metadata.create_entity(
        entity,
        [item.attribute for item in attributes],
        ownership=_ownership(body),
        extras=extras_of(attributes, entity_schema_name=None if schema_name == name else schema_name),
    )
    return metadata_id("entity", name)


def plural(name: str) -> str:
    """Return the name that Dataverse gives the entity set of an entity with this logical name."""
    if name.endswith("y") and name[-2:-1] not in ("a", "e", "i", "o", "u"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "z", "ch", "sh")) else f"{name}s"


def _ownership(body: Body) -> Ownership:
    """Return who owns the records of a new entity: users unless the body says it. Raises WebApiError."""
    word = body.word("OwnershipType") or Ownership.USER.value
    try:
        return Ownership(word)
    except ValueError:
        choices = ", ".join(ownership.value for ownership in Ownership)
        raise bad_payload(f"OwnershipType is one of {choices}.") from None


def _create_attribute(metadata: Change, entity: str, body: Body) -> Guid:
    """Create an attribute of an entity. Return its MetadataId."""
    new_attribute = read_attribute(body, entity, metadata.snapshot.option_sets)
    metadata.create_attributes(entity, [new_attribute.attribute], extras=extras_of([new_attribute]))
    return metadata_id("attribute", entity, new_attribute.attribute.logical_name)


def _create_key(metadata: Change, entity: str, body: Body) -> Guid:
    """Create an alternate key of an entity. Return its MetadataId.

    It is called by its logical name, as attributes are: that is what configurations name.
    """
    name = body.needed("SchemaName").lower()
    metadata.create_key(entity, AlternateKey(name, body.texts("KeyAttributes")))
    return metadata_id("key", entity, name)


def _create_relationship(metadata: Change, body: Body) -> Guid:
    """Create a relationship: a many-to-many one, or a one-to-many one with its lookup. Return its
    MetadataId.
    """
    name = body.needed("SchemaName")
    if body.type_name == "ManyToManyRelationshipMetadata" or "Entity1LogicalName" in body:
        relationship = Relationship(
            name,
            body.needed("Entity1LogicalName"),
            body.needed("Entity2LogicalName"),
            intersect=(body.text("IntersectEntityName") or name).lower(),
        )
        metadata.create_many_to_many(relationship, custom=True)
    else:
        lookup = body.part("Lookup")
        if lookup is None:
            raise bad_payload("The property 'Lookup' is needed: the attribute that holds the relationship.")
        new_lookup = read_lookup(lookup, (body.needed("ReferencedEntity"),))
        _create_lookup(metadata, new_lookup, [body])
    return metadata_id("relationship", name)


def _create_lookup_to_several(request: Request, action: str) -> Response:
    """Create a lookup with a relationship to each of its targets. `action` names the answer's type."""
    body = body_of(request)
    relationships = body.parts("OneToManyRelationships")
    lookup = body.part("Lookup")
    if not relationships or lookup is None:
        raise bad_payload("The parameters 'OneToManyRelationships' and 'Lookup' are needed.")
    new_lookup = read_lookup(lookup, tuple(item.needed("ReferencedEntity") for item in relationships))
    with change() as metadata:
        entity = _create_lookup(metadata, new_lookup, relationships)
    names = [item.needed("SchemaName") for item in relationships]
    answer: dict[str, Any] = {
        "@odata.context": f"{request.base}$metadata#Microsoft.Dynamics.CRM.{action}Response",
        "RelationshipIds": [metadata_id("relationship", name) for name in names],
        "AttributeId": metadata_id("attribute", entity, new_lookup.attribute.logical_name),
    }
    return json_response(answer)


def _create_lookup(metadata: Change, new_lookup: NewAttribute, relationship_bodies: list[Body]) -> str:
    """Create the lookup `new_lookup`, with one relationship for each entity that it may point at.

    Return the logical name of the entity that gets it.
    """
    entities = {body.needed("ReferencingEntity") for body in relationship_bodies}
    if len(entities) != 1:
        raise bad_payload("ReferencingEntity is the same in every relationship of one lookup.")
    [entity] = entities
    relationships = [
        Relationship(
            body.needed("SchemaName"),
            body.needed("ReferencedEntity"),
            entity,
            new_lookup.attribute.logical_name,
            on_delete=cascade_of(body) or Cascade.REMOVE_LINK,
        )
        for body in relationship_bodies
    ]
    # Defaults and spellings, which are kept beside attributes.
    extras: Extras = extras_of([new_lookup])
    metadata.create_attributes(entity, [new_lookup.attribute], relationships, extras=extras)
    return entity


def cascade_of(body: Body) -> Cascade | None:
    """Return what happens on deletion of the referenced record; None if the body does not say.

    Raises WebApiError for an unknown word.
    """
    described = body.part("CascadeConfiguration")
    word = None if described is None else described.text("Delete")
    if word is None:
        return None
    if word not in _CASCADES:
        raise bad_payload(f"CascadeConfiguration.Delete is one of {', '.join(_CASCADES)}.")
    return _CASCADES[word]

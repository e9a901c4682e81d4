"""Lookups by path: the record that one leads to; and `$ref`, which associates records and ends that."""

from __future__ import annotations

from crmbox.webapi.error_codes import DUPLICATE_ID
from crmbox.webapi.errors import WebApiError, bad_payload, bad_url
from crmbox.webapi.keys import locate
from crmbox.webapi.model import EntityType
from crmbox.webapi.navigation import Collection
from crmbox.webapi.records.references import read_reference
from crmbox.webapi.records.retrieve import representation
from crmbox.webapi.rendering import record_url
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmbox.webapi.routing import Shape, Target, on
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound
from crmclient.values import Guid, Reference


def associate(
    request: Request, type_: EntityType, id: Guid, collection: Collection, member: Reference
) -> None:
    """Associate a record with a member of one of its collections.

    In a one-to-many relationship the lookup of the member is set; in a many-to-many one a pair is created.
    Raises WebApiError (412) for a pair that exists.
    """
    if member.entity != collection.entity:
        raise bad_payload(f"'{collection.name}' leads to {collection.entity}, not to {member.entity}.")
    if collection.attribute is not None:
        values = {collection.attribute: Reference(type_.name, id)}
        request.platform.update(member.entity, member.id, values, call=request.call)
        return
    own_attribute, member_attribute = collection.pair
    try:
        # Not `associate`, for which a pair that is there already is a success: Dataverse refuses it.
        request.platform.create(
            collection.relationship.intersect or "",
            {own_attribute: id, member_attribute: member.id},
            call=request.call,
        )
    except DuplicateKey:
        raise WebApiError(412, DUPLICATE_ID, "Cannot insert duplicate key.") from None
    except InvalidRecord as error:
        # Both values are ids, so the only problem can be that one of the records does not exist.
        is_own = error.problems[0].attribute == own_attribute
        raise RecordNotFound(type_.name, id) if is_own else RecordNotFound(member.entity, member.id) from None


def disassociate(
    request: Request, type_: EntityType, id: Guid, collection: Collection, member: Reference
) -> None:
    """Disassociate a record from a member of one of its collections.

    In a one-to-many relationship, raises RecordNotFound for a member that is not associated with the record.
    In a many-to-many one, such a member is passed over.
    """
    if collection.attribute is not None:
        record = request.platform.retrieve(
            member.entity, member.id, [collection.attribute], call=request.call
        )
        current = record.values[collection.attribute]
        if not isinstance(current, Reference) or (current.entity, current.id) != (type_.name, id):
            raise RecordNotFound(member.entity, member.id)
        request.platform.update(member.entity, member.id, {collection.attribute: None}, call=request.call)
        return
    # In the second direction of a relationship, the member is the first record of the pair.
    first, second = (member.id, id) if collection.is_back else (id, member.id)
    request.platform.disassociate(type_.name, first, collection.relationship.name, second, call=request.call)


@on(Shape.LINK, "GET")
def follow(request: Request, target: Target) -> Response:
    """Answer with the record that a lookup points at; 204 for an empty lookup."""
    reference = _current_reference(request, target)
    if reference is None:
        return no_content()
    return json_response(representation(request, request.model.entity_type(reference.entity), reference.id))


@on(Shape.LINK_REF, "GET")
def get_reference(request: Request, target: Target) -> Response:
    """Answer with the URL of the record that a lookup points at; 204 for an empty lookup."""
    reference = _current_reference(request, target)
    if reference is None:
        return no_content()
    url = record_url(request.base, request.model.entity_type(reference.entity), reference.id)
    return json_response({"@odata.context": f"{request.base}$metadata#$ref", "@odata.id": url})


@on(Shape.LINK_REF, "PUT", "POST")
def refer(request: Request, target: Target) -> Response:
    """Let a lookup point at the record in the body. Raises WebApiError for one of another entity."""
    lookup = target.type.lookups[target.name]
    reference = _reference_in_body(request)
    if reference.entity not in lookup.targets:
        raise bad_payload(
            f"'{lookup.name}' leads to {' or '.join(lookup.targets)}, not to {reference.entity}."
        )
    _set_lookup(request, target, reference)
    return no_content()


@on(Shape.LINK_REF, "DELETE")
def refer_no_more(request: Request, target: Target) -> Response:
    """Empty a lookup."""
    _set_lookup(request, target, None)
    return no_content()


@on(Shape.LINKS_REF, "POST", "PUT")
def add(request: Request, target: Target) -> Response:
    """Associate the record in the path with the one in the body."""
    collection = target.type.collections[target.name]
    associate(request, target.type, _id(request, target), collection, _reference_in_body(request))
    return no_content()


@on(Shape.LINKS_REF, "DELETE")
def remove_by_url(request: Request, target: Target) -> Response:
    """Disassociate the record in the path from the one whose URL is in `$id`."""
    if "$id" not in request.query:
        raise bad_url("Write the member's URL as $id.")
    member = read_reference(request, request.query["$id"])
    disassociate(request, target.type, _id(request, target), target.type.collections[target.name], member)
    return no_content()


@on(Shape.MEMBER_REF, "DELETE")
def remove_by_key(request: Request, target: Target) -> Response:
    """Disassociate the record in the path from the one whose key stands behind the collection's name."""
    collection = target.type.collections[target.name]
    member = locate(request, request.model.entity_type(collection.entity), target.member)
    reference = Reference(collection.entity, member)
    disassociate(request, target.type, _id(request, target), collection, reference)
    return no_content()


def _current_reference(request: Request, target: Target) -> Reference | None:
    """Return the record that the lookup in the path points at.

    None if it is empty, or points at an entity that this navigation property does not lead to.
    """
    lookup = target.type.lookups[target.name]
    id = _id(request, target)
    record = request.platform.retrieve(target.type.name, id, [lookup.attribute], call=request.call)
    value = record.values[lookup.attribute]
    return value if isinstance(value, Reference) and value.entity in lookup.targets else None


def _set_lookup(request: Request, target: Target, reference: Reference | None) -> None:
    """Let the lookup in the path point at a record; None empties it."""
    attribute = target.type.lookups[target.name].attribute
    request.platform.update(target.type.name, _id(request, target), {attribute: reference}, call=request.call)


def _reference_in_body(request: Request) -> Reference:
    """Return the record whose URL is in the body. Raises WebApiError."""
    body = request.json()
    if "@odata.id" not in body:
        raise bad_payload('The body must be {"@odata.id": "<URL of a record>"}.')
    return read_reference(request, body["@odata.id"])


def _id(request: Request, target: Target) -> Guid:
    """Return the id of the record in the path. Raises WebApiError."""
    return locate(request, target.type, target.key)

"""Tying records together through a collection, and untying them."""

from __future__ import annotations

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.navigation import Collection
from crmbox.webapi.request import Request
from crmclient.errors import RecordNotFound
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.values import Guid, Reference


def tie(request: Request, type_: EntityType, id: Guid, collection: Collection, member: Reference) -> None:
    """One-to-many: the member's lookup points at the record. Many-to-many: a pair is made."""
    if member.entity != collection.entity:
        raise bad_payload(f"'{collection.name}' leads to {collection.entity}, not to {member.entity}.")
    if collection.attribute is not None:
        values = {collection.attribute: Reference(type_.name, id)}
        request.platform.update(member.entity, member.id, values, call=request.call)
        return
    own, other = _keys(request, type_, collection)
    request.platform.create(_pairs(collection), {own: id, other: member.id}, call=request.call)


def untie(request: Request, type_: EntityType, id: Guid, collection: Collection, member: Reference) -> None:
    """Raises RecordNotFound for a member that is not tied to the record."""
    if collection.attribute is not None:
        record = request.platform.retrieve(
            member.entity, member.id, [collection.attribute], call=request.call
        )
        current = record.values[collection.attribute]
        if not isinstance(current, Reference) or (current.entity, current.id) != (type_.name, id):
            raise RecordNotFound(member.entity, member.id)
        request.platform.update(member.entity, member.id, {collection.attribute: None}, call=request.call)
        return
    own, other = _keys(request, type_, collection)
    pairs = request.model.entity_type(_pairs(collection))
    both = Filter((Condition(own, Operator.EQ, (id,)), Condition(other, Operator.EQ, (member.id,))))
    query = Query(pairs.name, (Column(pairs.entity.primary_id),), both, top=1)
    rows = request.platform.query(query, call=request.call).rows
    if not rows:
        raise RecordNotFound(member.entity, member.id)
    request.platform.delete(pairs.name, str(rows[0][pairs.entity.primary_id]), call=request.call)


def _keys(request: Request, type_: EntityType, collection: Collection) -> tuple[str, str]:
    """The attributes of a pair: of the record and of the member."""
    return type_.entity.primary_id, request.model.entity_type(collection.entity).entity.primary_id


def _pairs(collection: Collection) -> str:
    """The intersect entity of a many-to-many collection."""
    return collection.relationship.intersect or ""

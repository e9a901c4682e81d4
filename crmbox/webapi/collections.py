"""GET of a collection: the records of an entity set, or those related to one record; and their number."""

from __future__ import annotations

from crmbox.webapi.keys import locate
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata import applying, fetching, tracking
from crmbox.webapi.odata.options import Options, read_options
from crmbox.webapi.odata.paging import Paging
from crmbox.webapi.odata.record_reader import RecordReader
from crmbox.webapi.odata.rows import MOST_COUNTED, collection_response, counts
from crmbox.webapi.rendering import context, record_url
from crmbox.webapi.request import Request, Response
from crmbox.webapi.routing import Shape, Target, on
from crmbox.webapi.sql import answering
from crmclient.query.ast import Condition, Filter, Link, Operator


@on(Shape.COLLECTION, "GET")
def collection(request: Request, target: Target) -> Response:
    if "fetchXml" in request.query:
        return fetching.fetch(request, target.type)
    if "sql" in request.query:
        return answering.answer(request, target.type)
    options = read_options(request.query)
    if options.apply is not None:
        return applying.apply(request, target.type, options)
    if tracking.is_asked_for(request, options):
        return tracking.answer(request, target.type, options)
    return _answer(request, target.type, options, (), ())


@on(Shape.LINKS, "GET")
def related(request: Request, target: Target) -> Response:
    type_, within, links = _related(request, target)
    return _answer(request, type_, read_options(request.query), within, links)


@on(Shape.LINKS_REF, "GET")
def related_references(request: Request, target: Target) -> Response:
    type_, within, links = _related(request, target)
    options = Options(select=type_.entity.primary_id)
    found = RecordReader(request).rows(type_, options, within=within, links=links)
    references = [{"@odata.id": record_url(request.base, type_, row.id)} for row in found.rows]
    return collection_response(
        request, {"@odata.context": f"{request.base}$metadata#Collection($ref)", "value": references}
    )


@on(Shape.COUNT, "GET")
def count(request: Request, target: Target) -> Response:
    return _counted(request, target.type, (), ())


@on(Shape.LINKS_COUNT, "GET")
def related_count(request: Request, target: Target) -> Response:
    return _counted(request, *_related(request, target))


def _counted(
    request: Request, type_: EntityType, within: tuple[Filter, ...], links: tuple[Link, ...]
) -> Response:
    options = read_options(request.query)
    if options.deltatoken is not None and not links and not within:
        total = tracking.number_of_changes(request, type_, options)
    else:
        total = RecordReader(request).count(type_, options, within, links)
    return Response(200, {"Content-Type": "text/plain"}, str(min(total, MOST_COUNTED)).encode())


def _answer(
    request: Request,
    type_: EntityType,
    options: Options,
    within: tuple[Filter, ...],
    links: tuple[Link, ...],
) -> Response:
    paging = Paging(request, options)
    found = RecordReader(request).rows(type_, options, within=within, links=links, page=paging.page)
    rows = found.rows[: paging.size]
    content = {
        "@odata.context": context(request.base, type_, options.select),
        **counts(request, found.total),
        "value": [row.content for row in rows],
    }
    if rows:
        content |= paging.next_link(found.next, type_.entity.primary_id, rows[0].id, rows[-1].id)
    return collection_response(request, content)


def _related(request: Request, target: Target) -> tuple[EntityType, tuple[Filter, ...], tuple[Link, ...]]:
    """The entity of a related collection, and what ties its records to the one in the path."""
    id = locate(request, target.type, target.key)
    request.platform.retrieve(target.type.name, id, (), call=request.call)
    collection = target.type.collections[target.name]
    type_ = request.model.entity_type(collection.entity)
    if collection.attribute is not None:
        return type_, (Filter((Condition(collection.attribute, Operator.EQ, (id,)),)),), ()
    key = type_.entity.primary_id
    own = Filter((Condition(target.type.entity.primary_id, Operator.EQ, (id,)),))
    pairs = Link(collection.relationship.intersect or "", key, key, "pairs", filter=own)
    return type_, (), (pairs,)

"""GET of a collection: the records of an entity set, or those related to one record; and their number."""

from __future__ import annotations

from crmbox.webapi.keys import locate
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata import apply_option, delta_links, fetchxml_option
from crmbox.webapi.odata.options import Options, read_options
from crmbox.webapi.odata.page_links import Paging
from crmbox.webapi.odata.record_reader import RecordReader
from crmbox.webapi.odata.rows import MOST_COUNTED, collection_response, counts
from crmbox.webapi.rendering import context, record_url
from crmbox.webapi.request import Request, Response
from crmbox.webapi.routing import Shape, Target, on
from crmbox.webapi.sql import sql_answers
from crmclient.query.ast import Condition, Filter, Link, Operator


@on(Shape.COLLECTION, "GET")
def collection(request: Request, target: Target) -> Response:
    """Answer a query of an entity set, in whichever of its languages the query string has it."""
    if "fetchXml" in request.query:
        return fetchxml_option.fetch(request, target.type)
    if "sql" in request.query:
        return sql_answers.answer(request, target.type)
    options = read_options(request.query)
    if options.apply is not None:
        return apply_option.apply(request, target.type, options)
    if delta_links.is_asked_for(request, options):
        return delta_links.answer(request, target.type, options)
    return _answer(request, target.type, options, (), ())


@on(Shape.LINKS, "GET")
def related(request: Request, target: Target) -> Response:
    """Answer with the records that are related to the one in the path."""
    type_, filters, links = _related_records(request, target)
    return _answer(request, type_, read_options(request.query), filters, links)


@on(Shape.LINKS_REF, "GET")
def related_references(request: Request, target: Target) -> Response:
    """Answer with the URLs of all records that are related to the one in the path."""
    type_, filters, links = _related_records(request, target)
    options = Options(select=type_.entity.primary_id)
    answer = RecordReader(request).rows(type_, options, within=filters, links=links)
    references = [{"@odata.id": record_url(request.base, type_, row.id)} for row in answer.rows]
    return collection_response(
        request, {"@odata.context": f"{request.base}$metadata#Collection($ref)", "value": references}
    )


@on(Shape.COUNT, "GET")
def count(request: Request, target: Target) -> Response:
    return _count_response(request, target.type, (), ())


@on(Shape.LINKS_COUNT, "GET")
def related_count(request: Request, target: Target) -> Response:
    return _count_response(request, *_related_records(request, target))


def _count_response(
    request: Request, type_: EntityType, filters: tuple[Filter, ...], links: tuple[Link, ...]
) -> Response:
    """Answer with the number of records that the filters, the links and the request's options leave.

    It is written as text, and never above 5,000. With a delta token, it is the number of changes.
    """
    options = read_options(request.query)
    if options.deltatoken is not None and not links and not filters:
        total = delta_links.number_of_changes(request, type_, options)
    else:
        total = RecordReader(request).count(type_, options, filters, links)
    return Response(200, {"Content-Type": "text/plain"}, str(min(total, MOST_COUNTED)).encode())


def _answer(
    request: Request,
    type_: EntityType,
    options: Options,
    filters: tuple[Filter, ...],
    links: tuple[Link, ...],
) -> Response:
    """Answer with one page of the records that the filters, the links and the options leave."""
    paging = Paging(request, options)
    answer = RecordReader(request).rows(type_, options, within=filters, links=links, page=paging.page)
    rows = paging.rows_to_answer(answer.rows)
    content = {
        "@odata.context": context(request.base, type_, options.select),
        **counts(request, answer.total),
        "value": [row.content for row in rows],
    }
    if rows:
        content |= paging.next_link(answer.next, type_.entity.primary_id, rows[0].id, rows[-1].id)
    return collection_response(request, content)


def _related_records(
    request: Request, target: Target
) -> tuple[EntityType, tuple[Filter, ...], tuple[Link, ...]]:
    """Return the entity of a related collection, and the filters and links that tie its records to the record
    in the path.
    """
    id = locate(request, target.type, target.key)
    # The result is not used: this raises RecordNotFound.
    request.platform.retrieve(target.type.name, id, (), call=request.call)
    collection = target.type.collections[target.name]
    type_ = request.model.entity_type(collection.entity)
    if collection.attribute is not None:
        return type_, (Filter((Condition(collection.attribute, Operator.EQ, (id,)),)),), ()
    own_attribute, other_attribute = collection.pair
    tied = Filter((Condition(own_attribute, Operator.EQ, (id,)),))
    pairs = Link(
        collection.relationship.intersect or "",
        other_attribute,
        type_.entity.primary_id,
        "pairs",
        filter=tied,
    )
    return type_, (), (pairs,)

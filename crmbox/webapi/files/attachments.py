"""`fileattachments`: what is known of the files of columns, by their ids, without reading them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from odata_query import ast

from crmbox.models import File
from crmbox.webapi.errors import unsupported
from crmbox.webapi.metadata.items import Item
from crmbox.webapi.metadata.metadata_options import read_selection
from crmbox.webapi.odata.expressions import parse_filter
from crmbox.webapi.odata.functions import FUNCTIONS, path_and_condition
from crmbox.webapi.odata.options import aliases
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named
from crmclient.query.ast import Column, Condition, Filter, Operator, Query
from crmclient.query.designed import Literal
from crmclient.values import FileInfo, Guid

SET: Final = "fileattachments"
_TYPE: Final = "fileattachment"
_ID: Final = "fileattachmentid"


@named(SET, "GET")
def read(request: Request) -> Response:
    """Answer with the files whose ids `$filter` lists, which is the only query supported."""
    if len(request.path) > 1 or request.path[0].arguments:
        raise unsupported(f"{request.raw_path}: files are listed by their ids")
    # `_ids_in_filter` reads the filter.
    selection = replace(read_selection(request.query), filter=None)
    contents = [selection.content(item, base=_TYPE) for item in _items(request, _ids_in_filter(request))]
    return json_response({"@odata.context": f"{request.base}$metadata#{SET}", "value": contents})


def _ids_in_filter(request: Request) -> list[Guid]:
    """Return the ids that `$filter` lists with `In`. Raises WebApiError for any other filter."""
    tree = parse_filter(request.query.get("$filter", ""), aliases(request.query))
    if isinstance(tree, ast.Call) and tree.func.name in FUNCTIONS:
        path, condition = path_and_condition(tree)
        if path == (_ID,) and condition.operator is Operator.IN:
            return [value.text.lower() for value in condition.values if isinstance(value, Literal)]
    raise unsupported(f"a $filter on {SET} other than Microsoft.Dynamics.CRM.In of {_ID}")


def _items(request: Request, ids: list[Guid]) -> Iterator[Item]:
    """Yield the files of columns that the caller may read, with one query for each column of an entity."""
    columns: dict[tuple[str, str], list[Guid]] = defaultdict(list)
    for file in File.objects.filter(id__in=ids, attached=True):
        columns[file.entity, file.attribute].append(file.record)
    for (entity, attribute), records in columns.items():
        key = request.platform.entities()[entity].primary_id
        query = Query(
            entity,
            (Column(key), Column(attribute)),
            Filter((Condition(key, Operator.IN, tuple(records)),)),
        )
        for row in request.platform.query(query, call=request.call).rows:
            info = row[attribute]
            if isinstance(info, FileInfo):
                yield _item(entity, str(row[key]), attribute, info)


def _item(entity: str, record: Guid, attribute: str, info: FileInfo) -> Item:
    """Return the file in a column of a record, as a record of `fileattachment`."""
    properties = {
        _ID: info.id,
        "filename": info.file_name,
        "filesizeinbytes": info.size,
        "mimetype": info.content_type,
        "objecttypecode": entity,
        "regardingfieldname": attribute,
        "_objectid_value": record,
    }
    return Item(_TYPE, info.id, properties, key=_ID)

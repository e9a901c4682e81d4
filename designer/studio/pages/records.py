"""Records by their names, for those who choose one as a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from django.http import HttpRequest, JsonResponse

from crmclient import Platform, Reference
from crmclient.errors import PlatformError
from crmclient.metadata import Entity
from crmclient.query.ast import Column, Condition, Filter, Operator, Order, Query
from crmclient.values import Value
from designer.audit.audit_entries import note
from designer.models import AuditEntry
from designer.platform import get_platform
from designer.studio.metadata.unavailable import unavailable_answer
from designer.studio.pages.base import StudioView
from designer.studio.trying.try_page import FOR_REAL

_MOST_RECORDS: Final = 20
# A record's id, also in braces as the platform's own pages write it.
_ID: Final = re.compile(r"\{?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\}?")


class RecordsByName(StudioView):
    """Answers with the first records of `entity` whose name has `search` in it, as JSON.

    With `id`, it answers with the record of that id. The service reads them with its own rights: whoever asks
    needs the right to run queries.
    """

    permission_required = ("designer.view_endpoint", FOR_REAL)
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> JsonResponse:
        name = request.GET.get("entity", "")
        platform = get_platform()
        try:
            entity = platform.entities().get(name)
            # Some entities have no attribute for a name. Their records cannot be chosen by it.
            if entity is None or not entity.primary_name:
                return JsonResponse({"records": []})
            condition = _condition(entity, request.GET.get("id", ""), request.GET.get("search", ""))
            records = list(_matching_records(platform, entity, condition))
        except PlatformError as error:
            return unavailable_answer(error)
        note(request, AuditEntry.Action.RUN, name, "records searched by name")
        return JsonResponse({"records": records})


def _condition(entity: Entity, id: str, search: str) -> Condition:
    """Return the condition for the record with that id. If `id` is no id, it is for names with `search`."""
    if match := _ID.fullmatch(id):
        return Condition(entity.primary_id, Operator.EQ, (match[1].lower(),))
    return Condition(str(entity.primary_name), Operator.CONTAINS, (search,))


def _matching_records(platform: Platform, entity: Entity, condition: Condition) -> Iterator[dict[str, str]]:
    """Yield up to `_MOST_RECORDS` records that match the condition, ordered by name.

    A record without a name shows its id.
    """
    name = str(entity.primary_name)
    query = Query(
        entity.logical_name,
        columns=(Column(entity.primary_id), Column(name)),
        filter=Filter((condition,)),
        orders=(Order(name),),
        top=_MOST_RECORDS,
    )
    for row in platform.query(query).rows:
        id = _record_id(row, entity)
        yield {"id": id, "label": str(row.get(name) or id), "entity": entity.logical_name}


def _record_id(row: Mapping[str, Value], entity: Entity) -> str:
    """Return the id of a record, which some platforms give as a reference to it."""
    value = row[entity.primary_id]
    return value.id if isinstance(value, Reference) else str(value)

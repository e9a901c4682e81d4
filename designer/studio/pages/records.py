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
from designer.studio.pages.base import StudioView
from designer.studio.trying.try_page import FOR_REAL

MOST: Final = 20
_ID: Final = re.compile(r"\{?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\}?").fullmatch


class RecordsOf(StudioView):
    """The first records of `entity` whose name has `search` in it or, with `id`, the one of that id.

    They are read for real, as the service: whoever asks needs the right to run queries.
    """

    permission_required = ("designer.view_endpoint", FOR_REAL)
    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> JsonResponse:
        name, id_match = request.GET.get("entity", ""), _ID(request.GET.get("id", ""))
        platform = get_platform()
        try:
            entity = platform.entities().get(name)
            if entity is None or not entity.primary_name:
                return JsonResponse({"records": []})
            if id_match:
                condition = Condition(entity.primary_id, Operator.EQ, (id_match[1].lower(),))
            else:
                condition = Condition(
                    entity.primary_name, Operator.CONTAINS, (request.GET.get("search", ""),)
                )
            records = list(_matching_records(platform, entity, condition))
        except PlatformError:
            return JsonResponse({"away": True}, status=503)
        note(request, AuditEntry.Action.RUN, name, "records searched by name")
        return JsonResponse({"records": records})


def _matching_records(platform: Platform, entity: Entity, condition: Condition) -> Iterator[dict[str, str]]:
    """Yield up to `MOST` records that match the condition, by name."""
    name = str(entity.primary_name)
    query = Query(
        entity.logical_name,
        columns=(Column(entity.primary_id), Column(name)),
        filter=Filter((condition,)),
        orders=(Order(name),),
        top=MOST,
    )
    for row in platform.query(query).rows:
        id = _id(row, entity)
        yield {"id": id, "label": str(row.get(name) or id), "entity": entity.logical_name}


def _id(row: Mapping[str, Value], entity: Entity) -> str:
    value = row[entity.primary_id]
    return value.id if isinstance(value, Reference) else str(value)

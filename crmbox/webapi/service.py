"""The service document, who is asking, and what the organisation is."""

from __future__ import annotations

import uuid
from typing import Any, Final

from crmbox.engine.identities import ROOT_BUSINESS_UNIT
from crmbox.webapi.errors import bad_url
from crmbox.webapi.operations.parameters import read_arguments
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named
from crmclient.query.ast import Aggregate, Column, Query

ORGANIZATION = str(uuid.uuid5(uuid.UUID(ROOT_BUSINESS_UNIT), "organization"))

VERSION: Final = "9.2.24000.0"
"""A version of Dataverse that speaks this protocol: clients compare its numbers."""


@named("", "GET")
def service_document(request: Request) -> Response:
    """Answer with the names of all entity sets."""
    sets = [{"name": name, "kind": "EntitySet", "url": name} for name in sorted(request.model.sets)]
    return json_response({"@odata.context": f"{request.base}$metadata", "value": sets})


@named("WhoAmI", "GET")
def who_am_i(request: Request) -> Response:
    """Answer with the ids of the user who asks, of its business unit and of the organisation."""
    user = request.platform.user(request.user)
    return _output(
        request,
        "WhoAmI",
        BusinessUnitId=user.business_unit_id,
        UserId=user.id,
        OrganizationId=ORGANIZATION,
    )


@named("RetrieveVersion", "GET")
def version(request: Request) -> Response:
    return _output(request, "RetrieveVersion", Version=VERSION)


@named("RetrieveCurrentOrganization", "GET")
def current_organization(request: Request) -> Response:
    """Answer with what clients ask of the organisation before they begin: its version and its address."""
    root = request.base.partition("api/data/")[0]
    detail = {
        "OrganizationId": ORGANIZATION,
        "FriendlyName": "Portico",
        "OrganizationVersion": VERSION,
        "UrlName": "portico",
        "UniqueName": "portico",
        "State": "Enabled",
        "Endpoints": {
            "Count": 1,
            "IsReadOnly": False,
            "Keys": ["WebApplication"],
            "Values": [root],
        },
    }
    return _output(request, "RetrieveCurrentOrganization", Detail=detail)


@named("RetrieveTotalRecordCount", "GET")
def total_record_count(request: Request) -> Response:
    """Answer `RetrieveTotalRecordCount(EntityNames=["account"])`. Dataverse's own count may be a day old."""
    names = read_arguments(request, request.path[0].arguments or ()).get("EntityNames")
    entities = request.model.snapshot
    if not isinstance(names, list) or not all(isinstance(name, str) and name in entities for name in names):
        raise bad_url('EntityNames is a list of the logical names of entities, such as ["account"].')
    counts = [_count(request, name) for name in names]
    collection = {"Count": len(names), "IsReadOnly": False, "Keys": names, "Values": counts}
    return _output(request, "RetrieveTotalRecordCount", EntityRecordCountCollection=collection)


def _count(request: Request, name: str) -> int:
    """Return the number of all records of an entity."""
    entity = request.model.entity_type(name).entity
    column = Column(entity.primary_id, "total", Aggregate.COUNT)
    [row] = request.platform.query(Query(name, (column,))).rows
    return int(str(row["total"]))


def _output(request: Request, function: str, **outputs: Any) -> Response:
    """Answer a function with its outputs by name."""
    context = f"{request.base}$metadata#Microsoft.Dynamics.CRM.{function}Response"
    return json_response({"@odata.context": context, **outputs})

"""Entity sets whose records are made of metadata and can only be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from crmbox.webapi.errors import no_resource, unsupported
from crmbox.webapi.metadata.items import Item, metadata_id
from crmbox.webapi.metadata.metadata_options import read_selection
from crmbox.webapi.paths import unquoted
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import named
from crmclient.dataverse.own_messages import OFFERED
from crmclient.metadata import AttributeType, Holds, Process, ProcessParameter

APIS: Final = "customapis"
REQUESTS: Final = "customapirequestparameters"
RESPONSES: Final = "customapiresponseproperties"

_GLOBAL, _ENTITY = 0, 1
_ACTIVE: Final = {"statecode": 0, "statuscode": 1}
_FIELD_TYPES: Final = {
    AttributeType.BOOLEAN: 0,
    AttributeType.DATETIME: 1,
    AttributeType.DECIMAL: 2,
    AttributeType.LOOKUP: 5,
    AttributeType.CUSTOMER: 5,
    AttributeType.OWNER: 5,
    AttributeType.DOUBLE: 6,
    AttributeType.INTEGER: 7,
    AttributeType.MONEY: 8,
    AttributeType.PICKLIST: 9,
    AttributeType.STRING: 10,
    AttributeType.MEMO: 10,
    AttributeType.UNIQUEIDENTIFIER: 12,
}
"""Values of the option set `customapifieldtype`."""
# The same for parameters that hold one record to create, or several.
_RECORDS: Final = {Holds.RECORD: 3, Holds.RECORDS: 4}


@named(APIS, "GET")
@named(REQUESTS, "GET")
@named(RESPONSES, "GET")
def read(request: Request) -> Response:
    return answer(request, _items(request, request.path[0].name))


def _items(request: Request, name: str) -> Iterator[Item]:
    """Yield the records of the entity set `name`: one for each process, or for each of its parameters."""
    for process in request.platform.processes().values():
        if process.name in OFFERED:
            # Dataverse's own messages are no custom APIs: $metadata alone has them.
            continue
        if name == APIS:
            yield _api(process)
            continue
        for parameter in process.inputs if name == REQUESTS else process.outputs:
            yield _parameter(process, parameter, name)


def _api(process: Process) -> Item:
    """Return a process as a record of `customapi`."""
    id = metadata_id("process", process.name)
    properties = {
        "customapiid": id,
        "uniquename": process.name,
        "name": process.label,
        "displayname": process.label,
        "description": process.description,
        "bindingtype": _GLOBAL if process.entity is None else _ENTITY,
        "boundentitylogicalname": process.entity,
        "isfunction": False,
        "isprivate": False,
        "allowedcustomprocessingsteptype": 0,
        "executeprivilegename": process.privilege or None,
        "workflowsdkstepenabled": False,
        **_ACTIVE,
    }
    return Item("customapi", id, properties, key="customapiid")


def _parameter(process: Process, parameter: ProcessParameter, set_name: str) -> Item:
    """Return an input or output of a process as a record of the entity set REQUESTS or RESPONSES."""
    id = metadata_id("process", process.name, set_name, parameter.name)
    request = set_name == REQUESTS
    key = "customapirequestparameterid" if request else "customapiresponsepropertyid"
    properties: dict[str, Any] = {
        key: id,
        "uniquename": parameter.name,
        "name": parameter.name,
        "displayname": parameter.name,
        "description": parameter.description,
        "type": _RECORDS.get(parameter.holds, _FIELD_TYPES[parameter.type]),
        "logicalentityname": parameter.targets[0] if len(parameter.targets) == 1 else None,
        "_customapiid_value": metadata_id("process", process.name),
        **({"isoptional": not parameter.required} if request else {}),
        **_ACTIVE,
    }
    return Item(key.removesuffix("id"), id, properties, key=key)


_NAMESPACE = "Microsoft.Dynamics.CRM"


@named("RetrieveProvisionedLanguages", "GET")
def provisioned(request: Request) -> Response:
    return _languages(request, "RetrieveProvisionedLanguages", "RetrieveProvisionedLanguages")


@named("RetrieveAvailableLanguages", "GET")
def available(request: Request) -> Response:
    return _languages(request, "RetrieveAvailableLanguages", "LocaleIds")


def _languages(request: Request, function: str, output: str) -> Response:
    """Answer a function with the organisation's languages (LCIDs) as the output `output`."""
    context = f"{request.base}$metadata#{_NAMESPACE}.{function}Response"
    return json_response({"@odata.context": context, output: list(request.platform.languages())})


def answer(request: Request, items: Iterable[Item]) -> Response:
    """Answer with those of `items` that the query selects, or with the one of the key in the path."""
    if len(request.path) > 1:
        raise unsupported(f"{request.raw_path}: these records lead nowhere")
    [segment] = request.path
    selection = read_selection(request.query)
    context = f"{request.base}$metadata#{segment.name}"
    if segment.arguments:
        id = unquoted(segment.arguments[0].value).lower()
        for item in items:
            if item.id == id:
                return json_response(
                    {"@odata.context": f"{context}/$entity", **selection.content(item, base=item.type)}
                )
        raise no_resource(request.raw_path)
    contents = [selection.content(item, base=item.type) for item in selection.matching(items)]
    return json_response({"@odata.context": context, "value": contents})

"""Custom APIs as processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from crmclient.dataverse.metadata.documents import ProcessDocument
from crmclient.metadata import AttributeType, Process, ProcessParameter

APIS, REQUESTS, RESPONSES = "customapis", "customapirequestparameters", "customapiresponseproperties"

_PARAMETER: Final = ("uniquename", "description", "type", "logicalentityname", "_customapiid_value")
COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    APIS: (
        *("customapiid", "uniquename", "displayname", "description"),
        *("bindingtype", "boundentitylogicalname", "isfunction"),
    ),
    REQUESTS: (*_PARAMETER, "isoptional"),
    RESPONSES: _PARAMETER,
}
"""What is asked for of each entity set."""

_GLOBAL, _ENTITY = 0, 1
_TYPES: Final = {
    0: AttributeType.BOOLEAN,
    1: AttributeType.DATETIME,
    2: AttributeType.DECIMAL,
    5: AttributeType.LOOKUP,
    6: AttributeType.DOUBLE,
    7: AttributeType.INTEGER,
    8: AttributeType.MONEY,
    9: AttributeType.PICKLIST,
    10: AttributeType.STRING,
    12: AttributeType.UNIQUEIDENTIFIER,
}
"""Those of the option set `customapifieldtype` that one value can be; entities and lists cannot."""


def read(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, ProcessDocument]:
    """The processes that can be run, by name: not those bound to collections, nor those with a required
    input of a type that there is no value for. Raises KeyError, TypeError."""
    inputs, outputs = _by_api(rows[REQUESTS]), _by_api(rows[RESPONSES])
    found: dict[str, ProcessDocument] = {}
    for row in rows[APIS]:
        taken = inputs.get(row["customapiid"], [])
        known = [item for item in taken if item["type"] in _TYPES]
        if row["bindingtype"] not in (_GLOBAL, _ENTITY):
            continue
        if any(item["type"] not in _TYPES and not item.get("isoptional") for item in taken):
            continue
        given = [item for item in outputs.get(row["customapiid"], []) if item["type"] in _TYPES]
        name = row["uniquename"]
        found[name] = ProcessDocument(
            Process(
                name,
                row.get("displayname") or name,
                tuple(_parameter(item, required=not item.get("isoptional")) for item in known),
                tuple(_parameter(item, required=False) for item in given),
                row.get("boundentitylogicalname") if row["bindingtype"] == _ENTITY else None,
                row.get("description") or "",
            ),
            bool(row.get("isfunction")),
        )
    return found


def _by_api(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["_customapiid_value"], []).append(row)
    return found


def _parameter(row: Mapping[str, Any], *, required: bool) -> ProcessParameter:
    target = row.get("logicalentityname")
    return ProcessParameter(
        row["uniquename"],
        _TYPES[row["type"]],
        required,
        (target,) if target else (),
        row.get("description") or "",
    )

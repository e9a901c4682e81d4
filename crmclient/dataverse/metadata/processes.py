"""Custom APIs as processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from crmclient.dataverse.metadata.documents import ProcessDocument
from crmclient.dataverse.own_messages import FORBIDDEN
from crmclient.metadata import AttributeType, Holds, Process, ProcessParameter

APIS, REQUESTS, RESPONSES = "customapis", "customapirequestparameters", "customapiresponseproperties"

_PARAMETER: Final = ("uniquename", "description", "type", "logicalentityname", "_customapiid_value")
COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    APIS: (
        *("customapiid", "uniquename", "displayname", "description"),
        *("bindingtype", "boundentitylogicalname", "isfunction", "executeprivilegename"),
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
    3: AttributeType.LOOKUP,
    4: AttributeType.LOOKUP,
    5: AttributeType.LOOKUP,
    6: AttributeType.DOUBLE,
    7: AttributeType.INTEGER,
    8: AttributeType.MONEY,
    9: AttributeType.PICKLIST,
    10: AttributeType.STRING,
    12: AttributeType.UNIQUEIDENTIFIER,
}
"""Those of the option set `customapifieldtype` that an endpoint has values for; lists of texts are none."""
_HOLDS: Final = {3: Holds.RECORD, 4: Holds.RECORDS}


def read(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, ProcessDocument]:
    """Return the processes that can be run, by name. Raises KeyError, TypeError.

    Left out are those bound to collections, and those with a required input for which no value can be given.
    """
    inputs, outputs = _by_api(rows[REQUESTS]), _by_api(rows[RESPONSES])
    processes: dict[str, ProcessDocument] = {}
    for row in rows[APIS]:
        inputs_of_api = inputs.get(row["customapiid"], [])
        usable_inputs = [item for item in inputs_of_api if _can_be_given(item)]
        if row["bindingtype"] not in (_GLOBAL, _ENTITY) or row["uniquename"] in FORBIDDEN:
            continue
        # A required input that cannot be given keeps the process from being called at all.
        if any(not _can_be_given(item) and not item.get("isoptional") for item in inputs_of_api):
            continue
        outputs_of_api = [item for item in outputs.get(row["customapiid"], []) if item["type"] in _TYPES]
        name = row["uniquename"]
        processes[name] = ProcessDocument(
            Process(
                name=name,
                label=row.get("displayname") or name,
                inputs=tuple(_parameter(item, required=not item.get("isoptional")) for item in usable_inputs),
                outputs=tuple(_parameter(item, required=False) for item in outputs_of_api),
                entity=row.get("boundentitylogicalname") if row["bindingtype"] == _ENTITY else None,
                description=row.get("description") or "",
                privilege=row.get("executeprivilegename") or "",
            ),
            bool(row.get("isfunction")),
        )
    return processes


def _by_api(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of parameters by the id of the custom API that they belong to."""
    rows_by_api: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        rows_by_api.setdefault(row["_customapiid_value"], []).append(row)
    return rows_by_api


def _can_be_given(row: Mapping[str, Any]) -> bool:
    """Whether values for an input can be given. A record needs an entity that says which attributes
    it has.
    """
    return row["type"] in _TYPES and (row["type"] not in _HOLDS or bool(row.get("logicalentityname")))


def _parameter(row: Mapping[str, Any], *, required: bool) -> ProcessParameter:
    """Read an input or output of a custom API. Raises KeyError."""
    target = row.get("logicalentityname")
    return ProcessParameter(
        name=row["uniquename"],
        type=_TYPES[row["type"]],
        required=required,
        targets=(target,) if target else (),
        description=row.get("description") or "",
        holds=_HOLDS.get(row["type"], Holds.VALUE),
    )

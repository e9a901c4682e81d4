"""Classic process actions, which no table describes as custom APIs are described: `$metadata` lists them.

It lists every action, Dataverse's own as well. Theirs have plain names; those of an organisation have its
publisher's prefix, with an underscore.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping
from typing import Final

from lxml import etree

from crmclient.dataverse.metadata.documents import ProcessDocument
from crmclient.errors import UnexpectedAnswer
from crmclient.metadata import AttributeType, Process, ProcessParameter

_EDM: Final = "{http://docs.oasis-open.org/odata/ns/edm}"
_ANY_ENTITY: Final = "crmbaseentity"
_TYPES: Final = {
    "Edm.String": AttributeType.STRING,
    "Edm.Boolean": AttributeType.BOOLEAN,
    "Edm.DateTimeOffset": AttributeType.DATETIME,
    "Edm.Decimal": AttributeType.DECIMAL,
    "Edm.Double": AttributeType.DOUBLE,
    "Edm.Int32": AttributeType.INTEGER,
    "Edm.Guid": AttributeType.UNIQUEIDENTIFIER,
}

_Properties = Mapping[str, str]


def read(document: bytes, entities: Collection[str], known: Collection[str]) -> dict[str, ProcessDocument]:
    """The actions of a `$metadata` document that are not `known`: not those bound to collections, nor those
    with a required input of a type that there is no value for. Raises UnexpectedAnswer."""
    actions: list[etree._Element] = []
    types: dict[str, _Properties] = {}
    try:
        events = etree.iterparse(
            io.BytesIO(document),
            events=("end",),
            tag=tuple(f"{_EDM}{name}" for name in ("Action", "ComplexType", "EntityType")),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
        )
        for _, element in events:
            if element.tag == f"{_EDM}Action":
                actions.append(element)
                continue
            if element.tag == f"{_EDM}ComplexType":
                properties = element.iterfind(f"{_EDM}Property")
                types[element.get("Name", "")] = {
                    each.get("Name", ""): each.get("Type", "") for each in properties
                }
            element.clear()
    except etree.XMLSyntaxError as error:
        raise UnexpectedAnswer(f"The platform's $metadata is not XML: {error.msg}.") from None
    found = {}
    for action in actions:
        name = action.get("Name", "")
        if "_" in name and name not in known:
            process = _process(action, name, entities, types)
            if process is not None:
                found[name] = ProcessDocument(process)
    return found


def _process(
    action: etree._Element, name: str, entities: Collection[str], types: Mapping[str, _Properties]
) -> Process | None:
    taken = list(action.iterfind(f"{_EDM}Parameter"))
    bound = None
    if action.get("IsBound") == "true":
        bound = _entity(taken.pop(0).get("Type", ""), entities) if taken else None
        if bound is None:
            return None
    inputs = []
    for each in taken:
        required = each.get("Nullable") == "false"
        parameter = _parameter(each.get("Name", ""), each.get("Type", ""), entities, required=required)
        if parameter is not None:
            inputs.append(parameter)
        elif required:
            return None
    answer = action.find(f"{_EDM}ReturnType")
    properties = {} if answer is None else types.get(_short(answer.get("Type", "")), {})
    outputs = (_parameter(each, kind, entities, required=False) for each, kind in properties.items())
    return Process(name, name, tuple(inputs), tuple(each for each in outputs if each is not None), bound)


def _parameter(name: str, kind: str, entities: Collection[str], *, required: bool) -> ProcessParameter | None:
    if kind in _TYPES:
        return ProcessParameter(name, _TYPES[kind], required)
    entity = _entity(kind, entities)
    if entity is not None:
        return ProcessParameter(name, AttributeType.LOOKUP, required, (entity,))
    if _short(kind) == _ANY_ENTITY:
        return ProcessParameter(name, AttributeType.LOOKUP, required)
    return None


def _entity(kind: str, entities: Collection[str]) -> str | None:
    return _short(kind) if not kind.startswith("Collection(") and _short(kind) in entities else None


def _short(kind: str) -> str:
    return kind.rpartition(".")[2]

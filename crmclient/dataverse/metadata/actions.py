"""Actions that no table describes as custom APIs are described: `$metadata` lists them.

It lists every action, Dataverse's own as well. Theirs have plain names, and `own_messages` says which of them
are offered; those of an organisation have its publisher's prefix, with an underscore.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from lxml import etree

from crmclient.dataverse.metadata.documents import ProcessDocument
from crmclient.dataverse.own_messages import FORBIDDEN, OFFERED, Message
from crmclient.errors import UnexpectedAnswer
from crmclient.metadata import AttributeType, Holds, Process, ProcessParameter
from crmclient.sentences import Sentence

_EDM: Final = "{http://docs.oasis-open.org/odata/ns/edm}"
_ANY_ENTITY: Final = "crmbaseentity"
_UNNAMED: Final = "value"
_UNDOCUMENTED: Final = Message("")
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


def read(document: bytes, entities: Collection[str], excluded: Collection[str]) -> dict[str, ProcessDocument]:
    """Return the actions in a `$metadata` document, by name. Raises UnexpectedAnswer.

    Left out are those that are `excluded`, those bound to collections, and those with a required input for
    which no value can be given.
    """
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
                    declared.get("Name", ""): declared.get("Type", "") for declared in properties
                }
            # Of megabytes, only the actions and a few names are kept.
            element.clear()
    except etree.XMLSyntaxError as error:
        raise UnexpectedAnswer(
            Sentence("The platform's $metadata is not XML: %(problem)s.", problem=error.msg)
        ) from None
    processes = {}
    for action in actions:
        name = action.get("Name", "")
        if ("_" in name or name in OFFERED) and name not in excluded and name not in FORBIDDEN:
            process = _process(action, name, entities, types)
            if process is not None:
                processes[name] = ProcessDocument(process)
    return processes


def _process(
    action: etree._Element, name: str, entities: Collection[str], types: Mapping[str, _Properties]
) -> Process | None:
    """Return an action of `$metadata` as a process; None for one with required inputs that cannot
    be given.
    """
    message = OFFERED.get(name, _UNDOCUMENTED)
    parameters = list(action.iterfind(f"{_EDM}Parameter"))
    entity = None
    # The first parameter of a bound action is the record that it runs on.
    if action.get("IsBound") == "true":
        entity = _entity(parameters.pop(0).get("Type", ""), entities) if parameters else None
        if entity is None:
            return None
    inputs = []
    for element in parameters:
        required = element.get("Nullable") == "false"
        parameter = _parameter(element.get("Name", ""), element.get("Type", ""), entities, required=required)
        if parameter is not None:
            parameter = _with_documented_targets(parameter, message, entities)
        # Of records of any entity nothing says what they are made of.
        if parameter is not None and (parameter.holds is Holds.VALUE or len(parameter.targets) == 1):
            inputs.append(parameter)
        elif required:
            return None
    answer = action.find(f"{_EDM}ReturnType")
    outputs = () if answer is None else tuple(_outputs(answer.get("Type", ""), entities, types))
    return Process(
        name=name, label=message.label or name, inputs=tuple(inputs), outputs=outputs, entity=entity
    )


def _with_documented_targets(
    parameter: ProcessParameter, message: Message, entities: Collection[str]
) -> ProcessParameter:
    """Return the parameter with what is documented of the message but missing in `$metadata`."""
    if not parameter.type.is_reference or parameter.holds is Holds.RECORDS:
        return parameter
    targets = parameter.targets or tuple(
        name for name in message.targets.get(parameter.name, ()) if name in entities
    )
    holds = Holds.RECORD if parameter.name in message.records else Holds.VALUE
    return replace(parameter, targets=targets, holds=holds)


def _outputs(
    edm_type: str, entities: Collection[str], types: Mapping[str, _Properties]
) -> Iterator[ProcessParameter]:
    """Return the properties of the type of an answer or, for a plain answer, the answer itself. OData calls
    it `value`.
    """
    properties = types.get(_short(edm_type), {}) if not _is_collection(edm_type) else {}
    for name, type_ in (properties or {_UNNAMED: edm_type}).items():
        parameter = _parameter(name, type_, entities, required=False)
        if parameter is None and _is_collection_of_any(type_):
            parameter = ProcessParameter(name, AttributeType.LOOKUP, False, (), holds=Holds.RECORDS)
        if parameter is not None:
            yield parameter


def _parameter(
    name: str, edm_type: str, entities: Collection[str], *, required: bool
) -> ProcessParameter | None:
    """Return a parameter of an action by its EDM type; None for a type that cannot be given."""
    if edm_type in _TYPES:
        return ProcessParameter(name, _TYPES[edm_type], required)
    several = _is_collection(edm_type)
    entity = _entity(
        edm_type.removeprefix("Collection(").removesuffix(")") if several else edm_type, entities
    )
    if entity is not None:
        holds = Holds.RECORDS if several else Holds.VALUE
        return ProcessParameter(name, AttributeType.LOOKUP, required, (entity,), holds=holds)
    if not several and _short(edm_type) == _ANY_ENTITY:
        return ProcessParameter(name, AttributeType.LOOKUP, required)
    return None


def _entity(edm_type: str, entities: Collection[str]) -> str | None:
    """Return the entity that an EDM type is; None for any other type."""
    return _short(edm_type) if not _is_collection(edm_type) and _short(edm_type) in entities else None


def _is_collection_of_any(edm_type: str) -> bool:
    """Whether an EDM type is a collection of records of any entities."""
    return _is_collection(edm_type) and _short(edm_type).removesuffix(")") == _ANY_ENTITY


def _is_collection(edm_type: str) -> bool:
    return edm_type.startswith("Collection(")


def _short(edm_type: str) -> str:
    """Return the name of an EDM type without its namespace. That of a collection keeps its last bracket."""
    return edm_type.rpartition(".")[2]

"""`$metadata`: entity types, entity sets, actions and functions as a CSDL document."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from crmbox.engine.snapshot import Snapshot, cached_by_snapshot
from crmbox.webapi.metadata.attributes import DOCUMENT, NOTES
from crmbox.webapi.model import NAMESPACE, EntityType, Model, property_name
from crmbox.webapi.navigation import Lookup
from crmbox.webapi.operations.process_calls import is_collection
from crmbox.webapi.request import Request, Response
from crmbox.webapi.routing import named
from crmclient.metadata import (
    Attribute,
    AttributeType,
    DateTimeBehavior,
    Holds,
    Process,
    ProcessParameter,
)

ALIAS: Final = "mscrm"
_EDM: Final = "http://docs.oasis-open.org/odata/ns/edm"
_EDMX: Final = "http://docs.oasis-open.org/odata/ns/edmx"
_KEYS: Final = "OData.Community.Keys.V1"
# Dataverse's abstract types. Every entity type derives from the first, and those that own records from the
# second.
_ANY_ENTITY, _ANY_OWNER = "crmbaseentity", "principal"

_DEFAULT_NAMESPACE: Final[Any] = {None: _EDM}
"""lxml's stubs know no namespace without a prefix."""

Element = etree._Element

_TYPES: Final = {
    AttributeType.STRING: "Edm.String",
    AttributeType.MEMO: "Edm.String",
    AttributeType.INTEGER: "Edm.Int32",
    AttributeType.BIGINT: "Edm.Int64",
    AttributeType.DECIMAL: "Edm.Decimal",
    AttributeType.DOUBLE: "Edm.Double",
    AttributeType.MONEY: "Edm.Decimal",
    AttributeType.BOOLEAN: "Edm.Boolean",
    AttributeType.DATETIME: "Edm.DateTimeOffset",
    AttributeType.UNIQUEIDENTIFIER: "Edm.Guid",
    AttributeType.PICKLIST: "Edm.Int32",
    AttributeType.MULTISELECT: "Edm.String",
    AttributeType.STATE: "Edm.Int32",
    AttributeType.STATUS: "Edm.Int32",
    AttributeType.LOOKUP: "Edm.Guid",
    AttributeType.CUSTOMER: "Edm.Guid",
    AttributeType.OWNER: "Edm.Guid",
    AttributeType.FILE: "Edm.Guid",
    AttributeType.IMAGE: "Edm.Binary",
}


@named("$metadata", "GET")
def metadata(request: Request) -> Response:
    """Answer with the CSDL document of the present metadata and processes."""
    processes = tuple(request.platform.processes().values())
    return Response(200, {"Content-Type": "application/xml"}, _document(request.model.snapshot, processes))


@cached_by_snapshot(2)
def _document(snapshot: Snapshot, processes: tuple[Process, ...]) -> bytes:
    """Return the CSDL document of a revision of the metadata, with `processes` as its actions."""
    model = Model(snapshot)
    types = [model.entity_type(name) for name in sorted(snapshot.entities)]
    root = etree.Element(f"{{{_EDMX}}}Edmx", {"Version": "4.0"}, {"edmx": _EDMX})
    services = etree.SubElement(root, f"{{{_EDMX}}}DataServices")
    schema = etree.SubElement(
        services, f"{{{_EDM}}}Schema", {"Namespace": NAMESPACE, "Alias": ALIAS}, _DEFAULT_NAMESPACE
    )
    _add(schema, "EntityType", Name=_ANY_ENTITY, Abstract="true")
    _add(schema, "EntityType", Name=_ANY_OWNER, BaseType=f"{ALIAS}.{_ANY_ENTITY}", Abstract="true")
    owners = {
        target
        for type_ in types
        for attribute in type_.attributes.values()
        if attribute.type is AttributeType.OWNER
        for target in attribute.targets
    }
    for type_ in types:
        _add_entity_type(schema, model, type_, _ANY_OWNER if type_.name in owners else _ANY_ENTITY)
    for process in processes:
        _add_action(schema, process)
    _add_who_am_i(schema)
    _add_container(schema, types, processes)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def _add_entity_type(schema: Element, model: Model, type_: EntityType, base: str) -> None:
    """Add an entity type that derives from the type `base`, with its key, properties and alternate keys."""
    element = _add(schema, "EntityType", Name=type_.name, BaseType=f"{ALIAS}.{base}")
    key = _add(element, "Key")
    _add(key, "PropertyRef", Name=type_.entity.primary_id)
    for name, attribute in type_.properties.items():
        _add_properties(element, type_, name, attribute)
    for lookup in type_.lookups.values():
        _add_lookup(element, model, lookup)
    for collection in type_.collections.values():
        _add(
            element,
            "NavigationProperty",
            Name=collection.name,
            Type=f"Collection({ALIAS}.{collection.entity})",
        )
    if type_.entity.keys:
        _add_alternate_keys(element, type_)


def _add_properties(element: Element, type_: EntityType, name: str, attribute: Attribute) -> None:
    """Add the properties of an attribute to an entity type."""
    edm = _odata_type_of_attribute(attribute)
    if (type_.name, name) == (NOTES, DOCUMENT):
        edm = "Edm.String"
    extra = {"Nullable": "false"} if attribute.is_primary_id else {}
    if edm == "Edm.Decimal":
        extra["Scale"] = "Variable"
    _add(element, "Property", Name=name, Type=edm, **extra)
    # A note's document has no property with its name.
    if attribute.type is AttributeType.FILE and edm != "Edm.String":
        _add(element, "Property", Name=f"{name}_name", Type="Edm.String")
    elif attribute.type is AttributeType.IMAGE:
        for suffix, edm_type in (("id", "Edm.Guid"), ("_timestamp", "Edm.Int64"), ("_url", "Edm.String")):
            _add(element, "Property", Name=f"{name}{suffix}", Type=edm_type)


def _odata_type_of_attribute(attribute: Attribute) -> str:
    """Return the type of OData for an attribute's values, such as `Edm.String`."""
    if attribute.type is AttributeType.DATETIME and attribute.behavior is DateTimeBehavior.DATE_ONLY:
        return "Edm.Date"
    return _TYPES[attribute.type]


def _add_lookup(element: Element, model: Model, lookup: Lookup) -> None:
    """Add the navigation property of a lookup to an entity type."""
    # Only an owner leads to several entities by one name.
    several = len(lookup.targets) > 1
    target = _ANY_OWNER if several else lookup.targets[0]
    navigation = _add(element, "NavigationProperty", Name=lookup.name, Type=f"{ALIAS}.{target}")
    if not several:
        _add(
            navigation,
            "ReferentialConstraint",
            Property=f"_{lookup.attribute}_value",
            ReferencedProperty=model.entity_type(lookup.targets[0]).entity.primary_id,
        )


def _add_alternate_keys(element: Element, type_: EntityType) -> None:
    """Add the annotation that lists the alternate keys of an entity type with their properties."""
    annotation = _add(element, "Annotation", Term=f"{_KEYS}.AlternateKeys")
    collection = _add(annotation, "Collection")
    for key in type_.entity.keys:
        record = _add(collection, "Record", Type=f"{_KEYS}.AlternateKey")
        members = _add(_add(record, "PropertyValue", Property="Key"), "Collection")
        for name in key.attributes:
            member = _add(members, "Record", Type=f"{_KEYS}.PropertyRef")
            _add(member, "PropertyValue", Property="Name", PropertyPath=property_name(type_.attributes[name]))


def _add_action(schema: Element, process: Process) -> None:
    """Add a process and, if it has outputs, the type of its answer."""
    action = _add(schema, "Action", Name=process.name)
    if process.entity is not None:
        action.set("IsBound", "true")
        _add(action, "Parameter", Name="entity", Type=f"{ALIAS}.{process.entity}", Nullable="false")
    for parameter in process.inputs:
        nullable = {} if not parameter.required else {"Nullable": "false"}
        _add(action, "Parameter", Name=parameter.name, Type=_odata_type_of_parameter(parameter), **nullable)
    if is_collection(process):
        _add(action, "ReturnType", Type=_odata_type_of_parameter(process.outputs[0]), Nullable="false")
    elif process.outputs:
        answer = f"{process.name}Response"
        _add(action, "ReturnType", Type=f"{ALIAS}.{answer}", Nullable="false")
        complex_type = _add(schema, "ComplexType", Name=answer)
        for parameter in process.outputs:
            _add(complex_type, "Property", Name=parameter.name, Type=_odata_type_of_parameter(parameter))


def _odata_type_of_parameter(parameter: ProcessParameter) -> str:
    """Return the type of OData for a parameter: an entity type, a collection of it, or a primitive type."""
    if parameter.type.is_reference:
        # OData has no type for “one of these entities”: several targets become any entity.
        entity = f"{ALIAS}.{parameter.targets[0] if len(parameter.targets) == 1 else _ANY_ENTITY}"
        return f"Collection({entity})" if parameter.holds is Holds.RECORDS else entity
    return _TYPES[parameter.type]


def _add_who_am_i(schema: Element) -> None:
    """Add the function WhoAmI, and the type of its answer."""
    answer = _add(schema, "ComplexType", Name="WhoAmIResponse")
    for name in ("BusinessUnitId", "UserId", "OrganizationId"):
        _add(answer, "Property", Name=name, Type="Edm.Guid", Nullable="false")
    function = _add(schema, "Function", Name="WhoAmI")
    _add(function, "ReturnType", Type=f"{ALIAS}.WhoAmIResponse", Nullable="false")


def _add_container(schema: Element, types: list[EntityType], processes: tuple[Process, ...]) -> None:
    """Add the container: the entity sets with where their navigation properties lead, and what is unbound."""
    container = _add(schema, "EntityContainer", Name="System")
    sets = {type_.name: type_.entity.entity_set for type_ in types}
    for type_ in types:
        element = _add(
            container,
            "EntitySet",
            Name=type_.entity.entity_set,
            EntityType=f"{NAMESPACE}.{type_.name}",
        )
        for lookup in type_.lookups.values():
            if len(lookup.targets) == 1:
                _add(
                    element,
                    "NavigationPropertyBinding",
                    Path=lookup.name,
                    Target=sets[lookup.targets[0]],
                )
        for collection in type_.collections.values():
            _add(element, "NavigationPropertyBinding", Path=collection.name, Target=sets[collection.entity])
    for process in processes:
        if process.entity is None:
            _add(container, "ActionImport", Name=process.name, Action=f"{NAMESPACE}.{process.name}")
    _add(container, "FunctionImport", Name="WhoAmI", Function=f"{NAMESPACE}.WhoAmI")


def _add(parent: Element, name: str, **attributes: str) -> Element:
    """Add an element of CSDL with the given XML attributes, and return it."""
    return etree.SubElement(parent, f"{{{_EDM}}}{name}", attributes)

"""Attributes as the Web API writes them: what all have in common, and what each type has besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from crmbox.engine.definitions import AttributeDefinition
from crmbox.engine.snapshot import Snapshot
from crmbox.webapi.metadata.items import Item, Leads, managed_property, metadata_id
from crmbox.webapi.metadata.label_bodies import label_json
from crmbox.webapi.metadata.option_sets import (
    boolean_option_set,
    global_option_set,
    own_option_set,
)
from crmclient.metadata import Attribute, AttributeType, DateTimeBehavior

NOTES, DOCUMENT = "annotation", "documentbody"
_VIRTUAL: Final = frozenset({AttributeType.FILE, AttributeType.IMAGE, AttributeType.MULTISELECT})
_KILOBYTE: Final = 1024
_LONGEST_DOCUMENT: Final = 1_073_741_823


def attribute_item(snapshot: Snapshot, entity: str, definition: AttributeDefinition) -> Item:
    """Return an attribute of an entity as an item of metadata."""
    attribute = definition.attribute
    name = attribute.logical_name
    # A note's document is text in base64 on the platform, and a file here.
    type_ = AttributeType.MEMO if (entity, name) == (NOTES, DOCUMENT) else attribute.type
    type_name = _TYPE_NAMES.get(type_, type_.value)
    id = metadata_id("attribute", entity, name)
    properties = {
        "MetadataId": id,
        "LogicalName": name,
        "SchemaName": definition.schema_name or _schema_name(snapshot, entity, attribute),
        "EntityLogicalName": entity,
        "AttributeType": "Virtual" if type_ in _VIRTUAL else type_.value,
        "AttributeTypeName": {"Value": f"{type_.value}Type"},
        **_common_properties(attribute, id),
        **_type_facts(attribute, type_, definition.default),
        **({"CanStoreFullImage": definition.full_image} if type_ is AttributeType.IMAGE else {}),
    }
    return Item(
        f"{type_name}AttributeMetadata",
        id,
        properties,
        _navigations(snapshot, entity, attribute),
        subject=(entity, name),
    )


def schema_name(logical_name: str, *, custom: bool) -> str:
    """Return the schema name of an item that was created without one.

    For a custom item that is its logical name; else it begins with a capital letter.
    """
    return logical_name if custom else logical_name[:1].upper() + logical_name[1:]


def _schema_name(snapshot: Snapshot, entity: str, attribute: Attribute) -> str:
    """Return the schema name of an attribute.

    The primary key of a custom entity is named after the schema name of the entity.
    """
    entity_schema_name = snapshot.entity(entity).definition.schema_name
    if (
        attribute.is_primary_id
        and entity_schema_name is not None
        and attribute.logical_name == f"{entity_schema_name.lower()}id"
    ):
        return f"{entity_schema_name}Id"
    return schema_name(attribute.logical_name, custom=attribute.is_custom)


def _common_properties(attribute: Attribute, id: str) -> dict[str, Any]:
    """Return the properties of attribute metadata that all types of attributes have."""
    return {
        "DisplayName": label_json(attribute.label, id),
        "Description": label_json(attribute.description, id, "description"),
        "RequiredLevel": {
            "Value": attribute.required.value,
            "CanBeChanged": True,
            "ManagedPropertyLogicalName": "canmodifyrequirementlevelsettings",
        },
        "IsPrimaryId": attribute.is_primary_id,
        "IsPrimaryName": attribute.is_primary_name,
        "IsCustomAttribute": attribute.is_custom,
        "IsValidForCreate": attribute.creatable,
        "IsValidForRead": attribute.readable,
        "IsValidForUpdate": attribute.updatable,
        "IsValidODataAttribute": True,
        "IsValidForForm": True,
        "IsValidForGrid": True,
        "IsRequiredForForm": False,
        "IsLogical": False,
        "IsManaged": False,
        "IsSecured": False,
        "IsRetrievable": True,
        "IsFilterable": True,
        "IsSearchable": False,
        "IsDataSourceSecret": False,
        "CanBeSecuredForCreate": False,
        "CanBeSecuredForRead": False,
        "CanBeSecuredForUpdate": False,
        "AttributeOf": None,
        "InheritsFrom": None,
        "DeprecatedVersion": None,
        "LinkedAttributeId": None,
        "ExternalName": None,
        "SourceType": 0,
        "IntroducedVersion": "1.0.0.0",
        "HasChanged": None,
        "IsAuditEnabled": managed_property(True, "canmodifyauditsettings"),
        "IsCustomizable": managed_property(True, "iscustomizable"),
        "IsRenameable": managed_property(True, "isrenameable"),
        "IsValidForAdvancedFind": managed_property(True, "canmodifysearchsettings"),
        "IsSortableEnabled": managed_property(True, "canmodifyissortablesettings"),
        "IsGlobalFilterEnabled": managed_property(False, "canmodifyglobalfiltersettings"),
        "CanModifyAdditionalSettings": managed_property(True, "canmodifyadditionalsettings"),
    }


def _navigations(snapshot: Snapshot, entity: str, attribute: Attribute) -> Mapping[str, Leads]:
    """Return where the navigation properties of an attribute lead: to option sets."""
    if attribute.type is AttributeType.BOOLEAN:
        return {
            "OptionSet": lambda: boolean_option_set(entity, attribute),
            "GlobalOptionSet": lambda: None,
        }
    if not attribute.type.has_options:
        return {}
    options = snapshot.options_of(attribute)
    if options.entity is None:
        return {
            "OptionSet": lambda: global_option_set(options),
            "GlobalOptionSet": lambda: global_option_set(options),
        }
    return {"OptionSet": lambda: own_option_set(entity, attribute, options), "GlobalOptionSet": lambda: None}


def _type_facts(attribute: Attribute, type_: AttributeType, default: bool | int | None) -> dict[str, Any]:
    """Return the properties of attributes of `type_`, which for a note's document is not the attribute's."""
    write = _WRITERS.get(type_)
    properties = {} if write is None else write(attribute)
    if type_ is AttributeType.BOOLEAN:
        properties["DefaultValue"] = bool(default)
    elif type_.has_options:
        properties["DefaultFormValue"] = -1 if default is None else default
    return properties


def _string(attribute: Attribute) -> dict[str, Any]:
    """Return the properties that only attributes for a single line of text have."""
    return {
        "MaxLength": attribute.max_length,
        # In bytes: the database of Dataverse takes two for a character.
        "DatabaseLength": 2 * (attribute.max_length or 0),
        "Format": "Text",
        "FormatName": {"Value": "Text"},
        "ImeMode": "Auto",
        "IsLocalizable": False,
        "YomiOf": None,
        "AutoNumberFormat": "",
        "FormulaDefinition": "",
        "SourceTypeMask": 0,
    }


def _memo(attribute: Attribute) -> dict[str, Any]:
    """Return the properties of attributes for several lines of text. A note's document is written as one."""
    properties = {
        "MaxLength": attribute.max_length or _LONGEST_DOCUMENT,
        "Format": "TextArea",
        "FormatName": {"Value": "TextArea"},
        "ImeMode": "Auto",
        "IsLocalizable": False,
    }
    return properties | _size(attribute) if attribute.type.holds_file else properties


def _bounds(attribute: Attribute) -> dict[str, Any]:
    return {"MinValue": _number(attribute.minimum), "MaxValue": _number(attribute.maximum)}


def _number(bound: Decimal | None) -> int | Decimal | None:
    """Return a bound as JSON has it: a whole number without decimal places."""
    return int(bound) if bound is not None and bound == bound.to_integral_value() else bound


def _whole_number_properties(attribute: Attribute) -> dict[str, Any]:
    return {**_bounds(attribute), "Format": "None", "FormulaDefinition": "", "SourceTypeMask": 0}


def _decimal(attribute: Attribute) -> dict[str, Any]:
    """Return the properties that only attributes for numbers with decimal places have."""
    return {
        **_bounds(attribute),
        "Precision": attribute.precision,
        "ImeMode": "Disabled",
        "FormulaDefinition": "",
        "SourceTypeMask": 0,
    }


def _money(attribute: Attribute) -> dict[str, Any]:
    return {**_decimal(attribute), "PrecisionSource": 0, "IsBaseCurrency": False, "CalculationOf": None}


def _datetime(attribute: Attribute) -> dict[str, Any]:
    """Return the properties that only attributes for dates and times have."""
    day = attribute.behavior is DateTimeBehavior.DATE_ONLY
    return {
        "Format": "DateOnly" if day else "DateAndTime",
        "DateTimeBehavior": {"Value": attribute.behavior.value},
        "CanChangeDateTimeBehavior": managed_property(False, "canchangedatetimebehavior"),
        "ImeMode": "Inactive",
        "FormulaDefinition": "",
        "SourceTypeMask": 0,
        "MinSupportedValue": "1753-01-01T00:00:00Z",
        "MaxSupportedValue": "9999-12-30T23:59:59Z",
    }


def _lookup(attribute: Attribute) -> dict[str, Any]:
    return {"Targets": list(attribute.targets), "Format": "None"}


def _size(attribute: Attribute) -> dict[str, Any]:
    """Return the property for the largest size of a file, in kilobytes."""
    # Rounded up, by a division of the negative number.
    return {"MaxSizeInKB": None if attribute.max_size is None else -(-attribute.max_size // _KILOBYTE)}


def _image(attribute: Attribute) -> dict[str, Any]:
    """Return the properties that only attributes for images have."""
    return {
        **_size(attribute),
        "IsPrimaryImage": False,
        "MaxHeight": 144,
        "MaxWidth": 144,
    }


_TYPE_NAMES: Final = {
    AttributeType.UNIQUEIDENTIFIER: "UniqueIdentifier",
    AttributeType.CUSTOMER: "Lookup",
    AttributeType.OWNER: "Lookup",
    AttributeType.PARTYLIST: "Lookup",
}
_WRITERS: Final[dict[AttributeType, Callable[[Attribute], dict[str, Any]]]] = {
    AttributeType.STRING: _string,
    AttributeType.MEMO: _memo,
    AttributeType.INTEGER: _whole_number_properties,
    AttributeType.BIGINT: _bounds,
    AttributeType.DECIMAL: _decimal,
    AttributeType.DOUBLE: _decimal,
    AttributeType.MONEY: _money,
    AttributeType.DATETIME: _datetime,
    AttributeType.LOOKUP: _lookup,
    AttributeType.CUSTOMER: _lookup,
    AttributeType.OWNER: _lookup,
    AttributeType.PARTYLIST: _lookup,
    AttributeType.FILE: _size,
    AttributeType.IMAGE: _image,
}

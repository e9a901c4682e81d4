"""Option sets and options as the Web API writes them."""

from __future__ import annotations

from typing import Any

from crmbox.webapi.metadata.items import Item, managed_property, metadata_id
from crmbox.webapi.metadata.label_bodies import label_json
from crmclient.metadata import Attribute, AttributeType, Label, Option, OptionSet

_YES, _NO = Label({1033: "Yes", 1031: "Ja"}), Label({1033: "No", 1031: "Nein"})
_KINDS = {AttributeType.STATE: "State", AttributeType.STATUS: "Status"}


def global_option_set(option_set: OptionSet) -> Item:
    return _item(option_set, ("optionset", option_set.name), AttributeType.PICKLIST)


def own_option_set(entity: str, attribute: Attribute, option_set: OptionSet) -> Item:
    """Return the option set that belongs to an attribute alone."""
    return _item(option_set, ("attribute", entity, attribute.logical_name, "options"), attribute.type)


def boolean_option_set(entity: str, attribute: Attribute) -> Item:
    """Return the option set of a boolean attribute, which always has the same two options."""
    names = ("attribute", entity, attribute.logical_name, "options")
    properties = {
        **_common_properties(names, f"{entity}_{attribute.logical_name}", attribute.label, is_global=False),
        "OptionSetType": "Boolean",
        "TrueOption": _option(names, Option(1, _YES)),
        "FalseOption": _option(names, Option(0, _NO)),
    }
    return Item("BooleanOptionSetMetadata", properties["MetadataId"], properties, keys=("Name",))


def _item(option_set: OptionSet, names: tuple[str, ...], type: AttributeType) -> Item:
    """Return an option set as an item of metadata. `names` make its id; `type` is that of its attribute."""
    properties = {
        **_common_properties(names, option_set.name, option_set.label, is_global=option_set.entity is None),
        "OptionSetType": _KINDS.get(type, "Picklist"),
        "ParentOptionSetName": None,
        "Options": [_typed_option(names, option, type) for option in option_set.options],
    }
    return Item(
        "OptionSetMetadata",
        properties["MetadataId"],
        properties,
        keys=("Name",),
        subject=(option_set.name,),
    )


def _common_properties(names: tuple[str, ...], name: str, label: Label, *, is_global: bool) -> dict[str, Any]:
    """Return the properties that all kinds of option sets have."""
    return {
        "MetadataId": metadata_id(*names),
        "HasChanged": None,
        "Name": name,
        "DisplayName": label_json(label, *names),
        "Description": label_json(Label(), *names, "description"),
        "IsGlobal": is_global,
        "IsCustomOptionSet": True,
        "IsManaged": False,
        "IsCustomizable": managed_property(True, "iscustomizable"),
        "ExternalTypeName": None,
        "IntroducedVersion": "1.0.0.0",
    }


def _typed_option(names: tuple[str, ...], option: Option, type: AttributeType) -> dict[str, Any]:
    """Return an option as JSON, with what only options of a state or a status have."""
    properties = _option(names, option)
    if type is AttributeType.STATE:
        return {
            "@odata.type": "#Microsoft.Dynamics.CRM.StateOptionMetadata",
            **properties,
            "DefaultStatus": option.default_status,
            "InvariantName": option.label.text(),
        }
    if type is AttributeType.STATUS:
        return {
            "@odata.type": "#Microsoft.Dynamics.CRM.StatusOptionMetadata",
            **properties,
            "State": option.state,
            "TransitionData": None,
        }
    return properties


def _option(names: tuple[str, ...], option: Option) -> dict[str, Any]:
    """Return what all options have, as JSON. `names` are those of its option set."""
    path = (*names, str(option.value))
    return {
        "Value": option.value,
        "Label": label_json(option.label, *path),
        "Description": label_json(Label(), *path, "description"),
        "Color": option.color,
        "IsManaged": False,
        "ExternalValue": "",
        "ParentValues": [],
        "Tag": None,
        "IsHidden": option.hidden,
        "MetadataId": None,
        "HasChanged": None,
    }

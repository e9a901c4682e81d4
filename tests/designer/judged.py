"""Definitions for readiness to judge, and the metadata of a small platform that they are judged by."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from crmclient import Platform
from crmclient.conventions import Conventions
from crmclient.dataverse.conventions import CONVENTIONS
from crmclient.errors import Unavailable
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Entity,
    Label,
    Option,
    OptionSet,
    Process,
    ProcessParameter,
    Relationship,
    RequiredLevel,
)
from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import (
    AccessDefinition,
    BindingDefinition,
    EndpointDefinition,
    ExposedEntityDefinition,
    InputDefinition,
    ModuleDefinition,
    RoleDefinition,
    UserPropertyDefinition,
)
from designer.readiness import Metadata, check

COLOURS = OptionSet("colour", Label({1033: "Colour"}), (Option(1, Label()), Option(2, Label())))
THING = {
    attribute.logical_name: attribute
    for attribute in (
        Attribute("name", AttributeType.STRING, required=RequiredLevel.APPLICATION, max_length=50),
        Attribute("colour", AttributeType.PICKLIST, option_set="colour", options=COLOURS),
        Attribute("price", AttributeType.MONEY, precision=4, minimum=Decimal(0)),
        Attribute("createdon", AttributeType.DATETIME, creatable=False, updatable=False),
        Attribute("photo", AttributeType.FILE, max_size=1000),
        Attribute("unitid", AttributeType.LOOKUP, targets=("unit",)),
        Attribute("secret", AttributeType.STRING, readable=False),
        Attribute("code", AttributeType.STRING, max_length=20),
    )
}
USER = {
    attribute.logical_name: attribute
    for attribute in (
        Attribute("systemuserid", AttributeType.UNIQUEIDENTIFIER),
        Attribute("pin", AttributeType.STRING, readable=False),
        Attribute("keeperid", AttributeType.LOOKUP, targets=("unit",), readable=False),
    )
}
UNIT = {
    attribute.logical_name: attribute
    for attribute in (
        Attribute("name", AttributeType.STRING),
        Attribute("vault", AttributeType.STRING, readable=False),
    )
}

PROCESSES = {
    process.name: process
    for process in (
        Process("Paint", "Paint", (ProcessParameter("Colour", AttributeType.STRING),), entity="thing"),
        Process("Ping", "Ping", outputs=(ProcessParameter("Echo", AttributeType.STRING),)),
    )
}


class Catalogue:
    """The metadata of a small platform; `down` makes it fail as one that cannot be reached."""

    def __init__(self, *, down: bool = False, conventions: Conventions = CONVENTIONS) -> None:
        self.down = down
        self.conventions = conventions

    def entities(self) -> Mapping[str, Entity]:
        self._reach()
        return {
            name: Entity(
                name,
                f"{name}s",
                Label(),
                Label(),
                f"{name}id",
                "name",
                has_notes=name == "unit",
                is_read_only=name == "everything",
            )
            for name in ("thing", "systemuser", "unit", "everything")
        }

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        self._reach()
        return {"thing": THING, "systemuser": USER, "unit": UNIT}.get(entity, {})

    def option_set(self, name: str, *, entity: str | None = None) -> OptionSet:
        from crmclient.errors import UnknownOptionSet

        self._reach()
        if name != "colour":
            raise UnknownOptionSet(name)
        return COLOURS

    def processes(self) -> Mapping[str, Process]:
        self._reach()
        return PROCESSES

    def relationships(self, entity: str) -> list[Relationship]:
        self._reach()
        return [
            Relationship("unit_users", "unit", "systemuser", "unitid"),
            Relationship("keeper_users", "unit", "systemuser", "keeperid"),
            Relationship("thing_units", "thing", "unit", intersect="thingunit"),
            Relationship("thing_things", "thing", "thing", intersect="thingthing"),
            Relationship("unit_teams", "unit", "team", intersect="unitteam"),
        ]

    def languages(self) -> list[int]:
        self._reach()
        return [1033, 1031]

    def _reach(self) -> None:
        if self.down:
            raise Unavailable("no answer")


def metadata(*, down: bool = False, conventions: Conventions = CONVENTIONS) -> Metadata:
    platform: Any = Catalogue(down=down, conventions=conventions)
    typed_platform: Platform = platform
    return Metadata(typed_platform)


EXPOSED = ExposedEntityDefinition(module="shop", segment="things", entity="thing")
NAME = InputDefinition(name="name", required=True, max_length=50)
BOUND = BindingDefinition(attribute="name", value="name")


def an_input(**values: Any) -> InputDefinition:
    return InputDefinition(**{"name": "name", "required": True, **values})


def create(*, entity: ExposedEntityDefinition | None = EXPOSED, **values: Any) -> Endpoint:
    given = {
        "kind": "create",
        "module": "shop",
        "exposure": "things",
        "inputs": (NAME,),
        "bindings": (BOUND,),
    }
    return Endpoint(EndpointDefinition.model_validate({**given, **values}), entity)


def read(*columns: str, **values: Any) -> Endpoint:
    """A read of `attribute` or `attribute:name` columns."""
    named = [dict(zip(("attribute", "name"), column.split(":"), strict=False)) for column in columns]
    return create(kind="read", inputs=(), bindings=(), columns=named, **values)


def action(process: str, **values: Any) -> Endpoint:
    given = {"kind": "action", "name": "act", "inputs": (), "bindings": ()}
    return create(**{**given, "settings": {"process": process}, **values})


def files(kind: str, *, access: AccessDefinition | None = None, **settings: Any) -> Endpoint:
    given: dict[str, Any] = {"access": access} if access else {}
    return create(kind=kind, name="photo", inputs=(), bindings=(), settings=settings, **given)


def ping(**values: Any) -> Endpoint:
    return action("Ping", **{"kind": "global-action", "exposure": "", "entity": None, **values})


COLOURED = BindingDefinition(attribute="Colour", source="constant", value="red")


def option_set(*, authentication_required: bool = False, **settings: Any) -> Endpoint:
    given = {"kind": "option-set", "name": "colours", "settings": {"option_set": "colour", **settings}}
    access = {"authentication_required": authentication_required}
    return Endpoint(EndpointDefinition.model_validate({**given, "access": access}))


def configured(*endpoints: Endpoint, properties: tuple[UserPropertyDefinition, ...] = ()) -> Configuration:
    return Configuration(
        revision=Revision(1, "x"),
        endpoints=dict(enumerate(endpoints, 1)),
        modules=(ModuleDefinition(segment="shop"),),
        entities=(EXPOSED,),
        roles=(RoleDefinition(name="buyer"),),
        user_properties=properties,
    )


MAIL = UserPropertyDefinition(name="mail", attribute="systemuserid")


def found(endpoint: Endpoint) -> set[str]:
    return {finding.rule for finding in check(endpoint, configured(endpoint, properties=(MAIL,)), metadata())}


def with_binding(**values: Any) -> Endpoint:
    return create(bindings=(BOUND, BindingDefinition(**values)))


def with_input(**values: Any) -> Endpoint:
    return create(inputs=(an_input(**values),))

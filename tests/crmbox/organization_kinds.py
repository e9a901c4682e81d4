"""`$metadata` documents of organisations that are large in different ways. Each has an entity to serve."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

from tests.crmbox import csdl
from tests.crmbox.csdl import GUID, entity_type, key, lookup, prop, props, table, to_many, to_one

_PRINCIPALS = (
    entity_type("principal", key("ownerid"), prop("ownerid", GUID), abstract=True),
    entity_type(
        "systemuser", key("ownerid"), props(systemuserid=GUID, fullname="Edm.String"), base="principal"
    ),
    entity_type("team", key("ownerid"), props(teamid=GUID, name="Edm.String"), base="principal"),
)
_PRINCIPAL_SETS = {"systemusers": "systemuser", "teams": "team"}
_OWNED = prop("_ownerid_value", GUID) + to_one("ownerid", "principal", None, "_ownerid_value")


class Organization(NamedTuple):
    """`served` is the entity that a test exposes."""

    document: str
    served: str


def activities(entities: int) -> Organization:
    """Every other entity is an activity that inherits what it has, and about which the others are asked."""
    regarded = [f"new_case{number}" for number in range(entities // 2)]
    kinds = [f"new_call{number}" for number in range(entities - entities // 2)]
    about = "".join(
        to_one(f"regardingobjectid_{name}", name, f"{name}_Activities", "_regardingobjectid_value")
        for name in regarded
    )
    base = entity_type(
        "activitypointer",
        key("activityid"),
        props(activityid=GUID, subject="Edm.String", description="Edm.String", _regardingobjectid_value=GUID),
        props(scheduledend="Edm.DateTimeOffset", actualdurationminutes="Edm.Int32", isbilled="Edm.Boolean"),
        _OWNED,
        about,
        abstract=True,
    )
    own = [
        entity_type(
            name,
            key("activityid"),
            prop("new_place"),
            # The base has the same partners for the same lookup: as organisations write it.
            "".join(
                to_one(f"regardingobjectid_{each}_{name}", each, f"{each}_Activities")
                for each in regarded[:: max(1, len(regarded) // 5)]
            ),
            base="activitypointer",
        )
        for name in kinds
    ]
    cases = [
        table(name, prop("new_name"), to_many(f"{name}_Activities", "activitypointer", "regardingobjectid"))
        for name in regarded
    ]
    sets = {f"{name}s": name for name in [*regarded, *kinds]}
    parts = [*_PRINCIPALS, base, *own, *cases]
    return Organization(csdl.document(parts, {**_PRINCIPAL_SETS, **sets}), kinds[-1])


def odd_names(entities: int) -> Organization:
    """Very long names, words of SQL, capitals, two that differ in case, letters of elsewhere."""
    words = ("select", "order", "table", "from", "group", "rowid", "xmin", "id", "user", "value", "etag")
    odd = ("new_Größe", "new-dash", "new_Ünï", "9lives", "new_a.b", "new_Mixed", "new_mixed", "_lead")
    made = []
    sets = {}
    for number in range(entities):
        name = f"New_{'x' * (100 if number % 3 else 20)}{number}"
        keyed = ("code", "ownerid", f"{name}Identifier", f"{name}id")[number % 4]
        made.append(
            entity_type(
                name,
                key(keyed),
                prop(keyed, GUID),
                props(new_name="Edm.String", **dict.fromkeys(words, "Edm.String")),
                "".join(prop(each) for each in odd),
                prop(f"new_{'y' * 124}a") + prop(f"new_{'y' * 124}b"),
                csdl.alternate_key("select", "order"),
                base="crmbaseentity",
            )
        )
        sets[f"{name}Set"] = name
    return Organization(
        csdl.document([*_PRINCIPALS, *made], {**_PRINCIPAL_SETS, **sets}), f"new_{'x' * 100}2"
    )


def odd_types(entities: int) -> Organization:
    """Enums, flags, complex types, collections, type definitions, and what no table here can hold."""
    types = (
        *('<EnumType Name="Mood"><Member Name="Good" Value="1"/><Member Name="Bad" Value="2"/></EnumType>',),
        *('<EnumType Name="Rights" IsFlags="true"><Member Name="None" Value="0"/></EnumType>',),
        *('<ComplexType Name="Address"><Property Name="Line" Type="Edm.String"/></ComplexType>',),
        *('<ComplexType Name="Far" BaseType="mscrm.Address"/>',),
        *('<TypeDefinition Name="Amount" UnderlyingType="Edm.Decimal"/>',),
        *('<TypeDefinition Name="Strange" UnderlyingType="Edm.Stream"/>',),
    )
    kinds = (
        *("Edm.String", "Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64", "Edm.Decimal"),
        *("Edm.Single", "Edm.Double", "Edm.Boolean", "Edm.DateTimeOffset", "Edm.Date", GUID, "mscrm.Mood"),
        *("mscrm.Rights", "mscrm.Address", "mscrm.Far", "mscrm.Amount", "mscrm.Strange", "mscrm.Nowhere"),
        *("Collection(Edm.String)", "Collection(mscrm.Address)", "Edm.Duration", "Edm.TimeOfDay"),
        *("Edm.GeographyPoint", "Edm.Binary", "Edm.Stream", "Edm.PrimitiveType", "Edm.Untyped"),
    )
    names = [f"new_thing{number}" for number in range(entities)]
    made = [
        table(
            name,
            prop("new_name", MaxLength=(1, 20, 4000, "max", 1_048_576)[number % 5]),
            "".join(prop(f"new_{n}", kinds[(number + n) % len(kinds)]) for n in range(len(kinds))),
            prop("new_exact", "Edm.Decimal", Scale=("variable", 0, 2, 10, 20)[number % 5], Precision=38),
            prop("new_status", "mscrm.Mood", Nullable="false"),
        )
        for number, name in enumerate(names)
    ]
    return Organization(
        csdl.document([*types, *_PRINCIPALS, *made], {**_PRINCIPAL_SETS, **{f"{n}s": n for n in names}}),
        names[2],
    )


def relations(entities: int) -> Organization:
    """Lookups to oneself and to several, many-to-many relationships side by side, names that repeat."""
    names = [f"new_node{number}" for number in range(entities)]
    parts = list(_PRINCIPALS)
    for name, following in pairwise([*names, names[0]]):
        several = "".join(
            to_one(f"new_aboutid_{target}", target, "Assignments", "_new_aboutid_value")
            for target in (name, following, "systemuser")
        )
        parts.append(
            table(
                name,
                props(new_name="Edm.String", new_note="Edm.String", _new_aboutid_value=GUID),
                lookup("new_parentid", name, f"{name}_children"),
                to_many(f"{name}_children", name, "new_parentid"),
                several,
                *(to_many(f"new_pairs{n}_{name}", following, f"new_pairs{n}_{name}") for n in range(3)),
                *(
                    to_many(
                        f"new_pairs{n}_{_before(names, name)}",
                        _before(names, name),
                        f"new_pairs{n}_{_before(names, name)}",
                    )
                    for n in range(3)
                ),
                to_many(f"{name}_self", name, f"{name}_self"),
                lookup("new_goneid", "new_gone", "nowhere"),
                _OWNED,
            )
        )
    return Organization(
        csdl.document(parts, {**_PRINCIPAL_SETS, **{f"{name}s": name for name in names}}), names[1]
    )


def attributes(entities: int) -> Organization:
    """75 attributes an entity, 30,000 of 400; and one with more than a table takes."""
    document = csdl.large(entities - 1, 75)
    wide = table("new_wide", "".join(prop(f"new_w{number}") for number in range(1_500)))
    return Organization(
        document.replace("<EntityContainer", wide + "<EntityContainer", 1).replace(
            "</EntityContainer>",
            '<EntitySet Name="new_wides" EntityType="Microsoft.Dynamics.CRM.new_wide"/></EntityContainer>',
        ),
        "new_wide" if entities < 10 else "new_thing7",
    )


def _before(names: list[str], name: str) -> str:
    return names[names.index(name) - 1]


KINDS: Final[dict[str, Callable[[int], Organization]]] = {
    "activities": activities,
    "odd names": odd_names,
    "odd types": odd_types,
    "relations": relations,
    "many attributes": attributes,
}

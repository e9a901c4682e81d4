"""What readiness lets pass is served: over every pair of what a binding or a condition takes and what an
attribute holds.

Each pair is an endpoint of its own, judged and then called for real. Where nothing blocks, some value of the
kind is written, and no call ends with a status of 500 or more; where something blocks, none is written.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from crmbox.demo.people import MAX_MANAGER, RITA_REP
from crmbox.metadata import change
from crmclient import Guid, Reference, Value, new_guid
from crmclient.metadata import (
    Attribute,
    AttributeType,
    DateTimeBehavior,
    Entity,
    Label,
    Option,
    OptionSet,
)
from designer.configuration import Configuration, Endpoint, Revision
from designer.definitions import (
    BindingDefinition,
    ColumnDefinition,
    EndpointDefinition,
    ExposedEntityDefinition,
    FetcherDefinition,
    InputDefinition,
    ModuleDefinition,
    UserPropertyDefinition,
)
from designer.platform import get_platform
from designer.ports import Attempt
from designer.readiness import Checker, Metadata
from designer.types import TYPES, InvalidInput, Limits, Reader, holds_records
from runtime.studio import StudioRuntime

THING = "new_thing"
UID = "00000000-0000-4000-8000-00000000beef"
_NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


def _choice(name: str, type: AttributeType, values: tuple[int, ...] = (1, 2, 7)) -> Attribute:
    options = tuple(Option(value, Label({1033: str(value)})) for value in values)
    option_set = OptionSet(f"{THING}_{name}", Label({1033: name}), options, entity=THING)
    return Attribute(name, type, option_set=option_set.name, options=option_set)


_DAY, _ZONELESS = DateTimeBehavior.DATE_ONLY, DateTimeBehavior.TIME_ZONE_INDEPENDENT
# One attribute of each type and, of texts, one for each thing that a text may say.
ATTRIBUTES = (
    *(Attribute(f"new_{name}", AttributeType.STRING, max_length=100) for name in ("text", "numeral", "guid")),
    *(Attribute(f"new_{name}", AttributeType.STRING, max_length=100) for name in ("daytext", "instanttext")),
    Attribute("new_memo", AttributeType.MEMO, max_length=100),
    # As long as a day is: no id and no instant fits.
    Attribute("new_short", AttributeType.STRING, max_length=10),
    Attribute("new_integer", AttributeType.INTEGER),
    Attribute("new_bigint", AttributeType.BIGINT),
    Attribute("new_decimal", AttributeType.DECIMAL, precision=2),
    Attribute("new_double", AttributeType.DOUBLE),
    Attribute("new_money", AttributeType.MONEY, precision=2),
    Attribute("new_boolean", AttributeType.BOOLEAN),
    Attribute("new_instant", AttributeType.DATETIME),
    Attribute("new_day", AttributeType.DATETIME, behavior=_DAY),
    Attribute("new_zoneless", AttributeType.DATETIME, behavior=_ZONELESS),
    Attribute("new_uid", AttributeType.UNIQUEIDENTIFIER),
    _choice("new_option", AttributeType.PICKLIST),
    _choice("new_options", AttributeType.MULTISELECT),
    _choice("new_grade", AttributeType.PICKLIST, (10, 20)),
    Attribute("new_accountid", AttributeType.LOOKUP, targets=("account",)),
    Attribute("new_contactid", AttributeType.LOOKUP, targets=("contact",)),
    Attribute("new_userid", AttributeType.LOOKUP, targets=("systemuser",)),
    Attribute("new_customerid", AttributeType.CUSTOMER, targets=("account", "contact")),
    Attribute("new_file", AttributeType.FILE, max_size=1000),
)
_READABLE = tuple(known.logical_name for known in ATTRIBUTES if not known.type.holds_file)
_TEXTS = ("new_text", "new_numeral", "new_guid", "new_daytext", "new_instanttext")
# What entities of users' records have of their own, which bindings set, too.
_OWN = ("ownerid", "statecode", "statuscode")
TARGETS = (*(known.logical_name for known in ATTRIBUTES if known.logical_name not in _TEXTS[1:]), *_OWN)


@dataclass(frozen=True)
class World:
    """Records of each kind by entity, and the ids of things that hold a value of every type: an active one,
    and one that is not."""

    account: Guid
    contact: Guid
    sources: tuple[Guid, Guid]

    def values(self, attribute: str) -> dict[str, Value]:
        """A value of each kind; ids, numbers and customers are such that `attribute` holds."""
        ids = {"new_accountid": self.account, "new_contactid": self.contact, "new_userid": MAX_MANAGER}
        id = ids.get(attribute, UID)
        whole = 10 if attribute == "new_grade" else 1
        customer = Reference("account", self.account)
        if attribute == "new_contactid":
            customer = Reference("contact", self.contact)
        return {
            **dict(zip(_TEXTS, ("some text", "7", id, "2026-01-31", "2026-01-31T12:00:00Z"), strict=True)),
            "new_memo": "some text",
            "new_short": "some text",
            "new_integer": whole,
            "new_bigint": whole,
            "new_decimal": Decimal("1.5"),
            "new_double": 1.5,
            "new_money": Decimal("1.5"),
            "new_boolean": True,
            "new_instant": _NOW,
            "new_day": _NOW.date(),
            "new_zoneless": _NOW,
            "new_uid": id,
            "new_option": 1,
            "new_options": (1, 2),
            "new_grade": 10,
            "new_accountid": Reference("account", self.account),
            "new_contactid": Reference("contact", self.contact),
            "new_userid": Reference("systemuser", MAX_MANAGER),
            "new_customerid": customer,
        }

    def sent(self, type: str) -> list[Any]:
        """Values that a caller may send for an input of the type, or that stand as a constant of it.

        They are those of the values below that the type reads, for an attribute of one entity or of several:
        none for a type whose texts have a form of their own.
        """
        records = {"account": self.account, "contact": self.contact, "systemuser": RITA_REP}
        references = [{"type": entity, "id": id} for entity, id in records.items()]
        texts = ["some text", "7", "1.5", UID, "2026-01-31", "2026-01-31T12:00:00Z", *records.values()]
        values = [*texts, 1, 0, 10, 1.5, True, [1, 2], *references, references]
        kind, every = TYPES[type], Limits(targets=tuple(records))
        readers = [kind.compile(limits) for limits in (Limits(targets=("account",)), every)]
        return [value for value in values if any(_reads(reader, value) for reader in readers)]


def _reads(reader: Reader, value: Any) -> bool:
    try:
        reader(value)
    except InvalidInput:
        return False
    return True


@dataclass(frozen=True)
class Case:
    """One binding's source; `bodies` are what callers send; `group`: the same kind as others of that name.

    `properties` are the user properties that there are.
    """

    group: str
    source: str
    value: Any
    inputs: tuple[InputDefinition, ...] = ()
    bodies: tuple[dict[str, Any], ...] = field(default=({},))
    fetched: FetcherDefinition | None = None
    properties: tuple[UserPropertyDefinition, ...] = ()


@pytest.fixture
def world(portico: None) -> World:
    entity = Entity(THING, "new_things", Label({1033: "Thing"}), Label(), "new_thingid", "new_text")
    primary = Attribute("new_text", AttributeType.STRING, max_length=100, is_primary_name=True)
    with change() as metadata:
        metadata.create_entity(entity, [primary, *ATTRIBUTES[1:]])
        metadata.create_attributes("systemuser", ATTRIBUTES)
    platform = get_platform()
    account = platform.create("account", {"name": "Contoso"}).id
    contact = platform.create("contact", {"lastname": "Lovelace"}).id
    return World(account, contact, (new_guid(), new_guid()))


def _fetch(column: str, source: Guid) -> FetcherDefinition:
    where = f'<condition attribute="new_thingid" operator="eq" value="{source}"/>'
    wanted = f'<attribute name="{column}"/><filter>{where}</filter>'
    query = f'<fetch><entity name="{THING}">{wanted}</entity></fetch>'
    return FetcherDefinition.model_validate({"name": "source", "query": query})


_TEXT_PROPERTY = UserPropertyDefinition(name="new_text", attribute="new_text")
PROPERTIES = (
    *(UserPropertyDefinition(name=name, attribute=name) for name in _READABLE),
    UserPropertyDefinition(name="id", attribute="systemuserid"),
    UserPropertyDefinition(name="unit", attribute="businessunitid"),
    UserPropertyDefinition(
        name="related",
        kind="related",
        relationship="user_parent_user",
        columns=(ColumnDefinition(attribute="fullname"),),
    ),
    UserPropertyDefinition(name="teamNames", kind="custom", expression="user.teams.map(team, team.name)"),
    UserPropertyDefinition(name="isManager", kind="custom", expression="'boss' in user.roles"),
    UserPropertyDefinition(name="greeting", kind="custom", expression="'Hello ' + user.new_text"),
)
EXPRESSIONS = (
    "1 + 1",
    "1.5",
    "'some text'",
    "'7'",
    "true",
    "[1, 2]",
    "now",
    "today()",
    "1 / 0",
    "null",
    "round(1.55, 1)",
)


def _group(name: str) -> str:
    return "text" if name in (*_TEXTS, "new_memo", "new_short", "greeting") else name


def _cases(world: World) -> Iterator[Case]:
    for name in TYPES:
        if holds_records(name):
            continue
        inputs = (InputDefinition(name="value", type=name),)
        if not (sent := world.sent(name)):
            # Of what an expression makes of them, readiness knows only that it is a text. Any text may fit.
            sample = json.loads(json.dumps(TYPES[name].sample, default=str))
            yield Case(f"input {name}", "input", "value", inputs, ({"value": sample},))
            continue
        bodies = tuple({"value": value} for value in sent)
        yield Case(f"input {name}", "input", "value", inputs, bodies)
        for value in sent:
            # Readiness knows no records, so of ids there need only be one that is served.
            is_id = isinstance(value, str) and len(value) == len(UID)
            yield Case(f"constant {name} {'id' if is_id else repr(value)}", "constant", value)
        yield Case(f"expression input {name}", "expression", "input.value", inputs, bodies)
        expression = "input.value != null ? input.value : null"
        yield Case(f"chosen input {name}", "expression", expression, inputs, bodies)
    for value in (None, "", []):
        yield Case(f"constant {value!r}", "constant", value)
    for known_property in PROPERTIES:
        name = known_property.name
        there = (_TEXT_PROPERTY, known_property) if name == "greeting" else (known_property,)
        yield Case(f"user {_group(name)}", "user", name, properties=there)
        yield Case(f"expression user {_group(name)}", "expression", f"user.{name}", properties=there)
    for name, source in itertools.product((*_READABLE, *_OWN), world.sources):
        if source == world.sources[0] or name in _OWN:
            fetched = _fetch(name, source)
            yield Case(f"fetch {_group(name)}", "fetch", f"source.{name}", fetched=fetched)
            expression = f"fetch.source.{name}"
            yield Case(f"expression fetch {_group(name)}", "expression", expression, fetched=fetched)
    for text in EXPRESSIONS:
        yield Case(text, "expression", text)


def _endpoint(case: Case, attribute: str) -> Endpoint:
    exposed = ExposedEntityDefinition(module="shop", segment="things", entity=THING)
    definition = EndpointDefinition(
        kind="create",
        module="shop",
        exposure="things",
        enabled=True,
        inputs=case.inputs,
        bindings=(BindingDefinition(attribute=attribute, source=case.source, value=case.value),),
        fetchers=(case.fetched,) if case.fetched else (),
    )
    return Endpoint(definition, exposed)


def _configured(case: Case, endpoint: Endpoint) -> Configuration:
    return Configuration(
        revision=Revision(1, "x"),
        endpoints={1: endpoint},
        modules=(ModuleDefinition(segment="shop"),),
        entities=(endpoint.entity,) if endpoint.entity else (),
        roles=(),
        user_properties=case.properties,
    )


# Findings that ask for more than that a value fits: an input is described to callers as what its attribute
# holds, and nothing is bound to a file, not even null.
_STRICTER = ("binding-types", "attribute-read-only")


def _conditions(world: World) -> Iterator[tuple[Case, str]]:
    """Sources with what a condition calls them."""
    for known_property in PROPERTIES:
        there = (_TEXT_PROPERTY, known_property)[known_property.name == "new_text" :]
        case = Case(known_property.name, "user", known_property.name, properties=there)
        yield case, f"@user.{known_property.name}"
    for name in (*_READABLE, *_OWN):
        case = Case(name, "fetch", name, fetched=_fetch(name, world.sources[0]))
        yield case, f"@fetch.source.{name}"


@pytest.mark.parametrize("attribute", TARGETS)
@pytest.mark.parametrize("in_rule", [False, True], ids=["query", "row rule"])
def test_what_is_ready_is_compared(world: World, attribute: str, in_rule: bool) -> None:
    """A text may say anything: where it says nothing that the attribute holds, nothing is found."""
    platform = get_platform()
    platform.create(THING, world.values(attribute), id=world.sources[0])
    platform.update("systemuser", RITA_REP, world.values(attribute))
    metadata, runtime = Metadata(platform), StudioRuntime()
    wrong: list[str] = []
    for case, value in _conditions(world):
        where = f'<filter><condition attribute="{attribute}" operator="eq" value="{value}"/></filter>'
        inside = '<attribute name="new_text"/>' + ("" if in_rule else where)
        definition = EndpointDefinition.model_validate(
            {
                "kind": "multi-query",
                "module": "shop",
                "name": "asked",
                "row_rule": where if in_rule else "",
                "fetchers": (case.fetched,) if case.fetched else (),
                "settings": {"query": f'<fetch><entity name="{THING}">{inside}</entity></fetch>'},
            }
        )
        configuration = _configured(case, Endpoint(definition, None))
        judged = Checker(configuration, metadata).endpoint(1)
        rules = {finding.rule for finding in judged if finding.is_blocking}
        attempt = Attempt(caller_record=RITA_REP, content=b"", dry=False)
        outcome = runtime.attempt(configuration.endpoints[1], configuration, attempt)
        nothing = outcome.status == 503 or outcome.body.strip() == "[]"
        if (rules and not nothing) or (not rules and outcome.status != 200):
            wrong.append(f"{value}: {sorted(rules)} {outcome.status}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("attribute", TARGETS)
def test_what_is_ready_is_served(world: World, attribute: str) -> None:
    platform = get_platform()
    active, inactive = world.sources
    platform.create(THING, world.values(attribute), id=active)
    platform.create(THING, {**world.values(attribute), "statecode": 1, "statuscode": 2}, id=inactive)
    platform.update("systemuser", RITA_REP, world.values(attribute))
    metadata, runtime = Metadata(platform), StudioRuntime()
    ready: dict[str, set[str]] = {}
    statuses: dict[str, list[int]] = {}
    for case in _cases(world):
        configuration = _configured(case, _endpoint(case, attribute))
        findings = Checker(configuration, metadata).endpoint(1)
        blocking = {f"{finding.rule}: {finding.message}" for finding in findings if finding.is_blocking}
        ready.setdefault(case.group, set()).update(blocking)
        for body in case.bodies:
            attempt = Attempt(caller_record=RITA_REP, content=json.dumps(body).encode(), dry=False)
            outcome = runtime.attempt(configuration.endpoints[1], configuration, attempt)
            statuses.setdefault(case.group, []).append(outcome.status)
    wrong = {
        group: (sorted(findings), statuses[group])
        for group, findings in ready.items()
        # What is ready is served with some value of its kind, and never fails; what is blocked never is.
        if (not findings and (200 not in statuses[group] or max(statuses[group]) >= 500))
        or (200 in statuses[group] and any(not rule.startswith(_STRICTER) for rule in findings))
    }
    assert not wrong, "\n".join(
        f"{group}: {findings} {statuses}" for group, (findings, statuses) in wrong.items()
    )

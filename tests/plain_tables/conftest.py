"""The service in front of plain tables: the demo's accounts, and a configuration of its own.

Rita and Max are members. Whoever is no keeper of a firm does not reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crmbox.demo.people import MAX_MANAGER, RITA_REP
from crmclient.conventions import Conventions
from designer.definitions import (
    BindingDefinition,
    ColumnDefinition,
    ConfigurationDocument,
    EndpointDefinition,
    ExposedEntityDefinition,
    InputDefinition,
    ModuleDefinition,
    UserPropertyDefinition,
)
from designer.documents.applied_plan import apply
from designer.documents.plan import plan
from designer.entity_exposure import USUAL, Exposure, endpoints
from designer.models import Endpoint, ExposedEntity, UserProperty
from designer.platform import get_platform
from runtime.serving import served
from tests.plain_tables.platform import PlainTables
from tests.plain_tables.tables import ATTRIBUTES, ENTITIES

MODULE = "plain"
MINE = '<filter><condition attribute="keeper" operator="eq-userid"/></filter>'
OF_USER = BindingDefinition(attribute="keeper", source="user", value="me")
ME = UserPropertyDefinition(name="me", attribute="member_key")
LABEL = UserPropertyDefinition(name="label", attribute="label")
PERSONS = InputDefinition(
    name="persons",
    type="List",
    relationship="person_employer",
    inputs=(InputDefinition(name="family", required=True, max_length=50),),
    bindings=(BindingDefinition(attribute="family", value="family"), OF_USER),
)

UPSERT = {
    "kind": "upsert",
    "module": MODULE,
    "exposure": "firms",
    "name": "number",
    "settings": {"key": "number"},
    "inputs": [{"name": "title", "required": True}, {"name": "staff", "type": "Integer"}],
    "bindings": [
        {"attribute": "title", "value": "title"},
        {"attribute": "staff", "value": "staff"},
        {"attribute": "keeper", "source": "user", "value": "me"},
    ],
}
READ_BY_KEY = {
    "kind": "read-by-key",
    "module": MODULE,
    "exposure": "firms",
    "name": "number",
    "settings": {"key": "number"},
    "columns": [{"attribute": "title"}, {"attribute": "staff"}],
}


def bare() -> PlainTables:
    """Tables that declare nothing: no users, no versions, no abilities."""
    return PlainTables(conventions=Conventions())


def usual(entity: str, columns: tuple[str, ...]) -> list[EndpointDefinition]:
    """The studio's usual operations; whoever creates a record keeps it."""
    wanted = Exposure(MODULE, f"{entity}s", [kind.name for kind in USUAL], columns)
    definitions = endpoints(wanted, ENTITIES[entity], ATTRIBUTES[entity])
    return [_with_persons(_kept_by_caller(one) if one.kind == "create" else one) for one in definitions]


def _with_persons(endpoint: EndpointDefinition) -> EndpointDefinition:
    """Firms are created and updated along with the persons whom they employ."""
    if endpoint.exposure != "firms" or endpoint.kind not in ("create", "update"):
        return endpoint
    return endpoint.model_copy(update={"inputs": (*endpoint.inputs, PERSONS)})


def _kept_by_caller(create: EndpointDefinition) -> EndpointDefinition:
    bindings = [one for one in create.bindings if one.attribute != "keeper"]
    inputs = [one for one in create.inputs if one.name != "keeper"]
    return create.model_copy(update={"bindings": (*bindings, OF_USER), "inputs": tuple(inputs)})


def usual_document() -> ConfigurationDocument:
    exposed = (
        ExposedEntityDefinition(module=MODULE, segment=f"{entity}s", entity=entity, row_rule=MINE)
        for entity in ("firm", "person")
    )
    return ConfigurationDocument(
        format=2,
        user_properties=(ME, LABEL),
        modules=(ModuleDefinition(segment=MODULE),),
        entities=tuple(exposed),
        endpoints=(
            *usual("firm", ("title", "staff", "turnover", "since", "line", "stage", "boss", "keeper")),
            *usual("person", ("given", "family", "called", "employer", "keeper")),
            EndpointDefinition.model_validate(UPSERT),
            EndpointDefinition.model_validate(READ_BY_KEY),
        ),
    )


def configure(document: ConfigurationDocument) -> None:
    """Make it the whole configuration beside the demo's roles and accounts."""
    for model in (Endpoint, ExposedEntity, UserProperty):
        model.objects.all().delete()
    apply(plan(ConfigurationDocument(format=2), document), document)


@pytest.fixture
def serve(portico: None, settings: Any) -> Iterator[Callable[[str], None]]:
    """Serve from the platform of that dotted path."""

    def start(path: str) -> None:
        settings.PORTICO = {**settings.PORTICO, "PLATFORM": path}
        _ask_anew()

    yield start
    _ask_anew()


def _ask_anew() -> None:
    """What is served already asks the platform that it was made with."""
    get_platform.cache_clear()
    served._served = None


@pytest.fixture
def tables(serve: Callable[[str], None]) -> PlainTables:
    """What the service reads and writes, configured as usual."""
    serve("tests.plain_tables.PlainTables")
    platform = get_platform()
    assert isinstance(platform, PlainTables)
    for id, label in ((RITA_REP, "Rita Rep"), (MAX_MANAGER, "Max Manager")):
        platform.create("member", {"label": label}, id=id)
    configure(usual_document())
    return platform


@pytest.fixture
def nothing_declared(serve: Callable[[str], None]) -> PlainTables:
    """The same tables and configuration, on a platform that declares nothing."""
    serve("tests.plain_tables.conftest.bare")
    platform = get_platform()
    assert isinstance(platform, PlainTables)
    document = usual_document()
    more = (
        EndpointDefinition.model_validate(
            {
                "kind": "download",
                "module": MODULE,
                "exposure": "firms",
                "name": "contract",
                "settings": {"attribute": "contract"},
            }
        ),
        EndpointDefinition.model_validate(
            {"kind": "global-action", "module": MODULE, "name": "ping", "settings": {"process": "Ping"}}
        ),
        EndpointDefinition.model_validate(
            {
                "kind": "associate",
                "module": MODULE,
                "exposure": "firms",
                "name": "friends",
                "settings": {"relationship": "firm_friends", "related": "persons"},
            }
        ),
    )
    open_read = next(one for one in document.endpoints if one.key == f"{MODULE}.persons.read").model_copy(
        update={"exposure": "anyone", "columns": (ColumnDefinition(attribute="family"),)}
    )
    free = ExposedEntityDefinition(module=MODULE, segment="anyone", entity="person")
    configure(
        document.model_copy(
            update={
                "entities": (*document.entities, free),
                "endpoints": (*document.endpoints, *more, open_read),
            }
        )
    )
    return platform

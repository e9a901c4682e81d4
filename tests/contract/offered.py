"""What a consultant would offer of each entity with every attribute: the studio's own usual operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crmclient import Platform
from designer.definitions import ConfigurationDocument, EndpointDefinition, ModuleDefinition
from designer.definitions.entities import ExposedEntityDefinition
from designer.exposing import USUAL, Exposure, endpoints

MODULE = "everything"
ENTITIES = ("account", "contact", "incident", "lead", "opportunity")
# The demo has none of their records: they are made, and looked for in vain.
ACTIVITIES = ("email", "appointment")
# Of many accounts only two may be answered at once: what is more is refused.
CAPPED: dict[str, Any] = {
    "kind": "multi-query",
    "module": MODULE,
    "name": "capped",
    "settings": {
        "query": '<fetch><entity name="account"><attribute name="name"/></entity></fetch>',
        "cap": 2,
    },
}
# Who is in which team: a relationship that either end may be asked by.
ASSOCIATED = ("team", "systemuser")
ASSOCIATE: dict[str, Any] = {
    "kind": "associate",
    "module": MODULE,
    "exposure": "team",
    "name": "members",
    "settings": {"relationship": "teammembership_association", "related": "systemuser"},
}
UPSERT: dict[str, Any] = {
    "kind": "upsert",
    "module": MODULE,
    "exposure": "account",
    "name": "number",
    "settings": {"key": "accountnumber"},
    "inputs": [
        {"name": "name", "type": "String", "required": True},
        {"name": "phone", "type": "String", "nullable": True},
        {"name": "staff", "type": "Integer"},
    ],
    "bindings": [
        {"attribute": "name", "value": "name"},
        {"attribute": "telephone1", "value": "phone"},
        {"attribute": "numberofemployees", "value": "staff"},
    ],
}
# An update with contacts that are added, changed and removed along with the account.
WITH_PEOPLE: dict[str, Any] = {
    "kind": "update",
    "module": MODULE,
    "exposure": "account",
    "segment": "account-people",
    "inputs": [
        {"name": "name", "type": "String"},
        {
            "name": "people",
            "type": "List",
            "relationship": "contact_customer_accounts",
            "inputs": [
                {"name": "last", "required": True, "max_length": 50},
                {"name": "mail", "nullable": True},
            ],
            "bindings": [
                {"attribute": "lastname", "value": "last"},
                {"attribute": "emailaddress1", "value": "mail"},
            ],
        },
    ],
    "bindings": [{"attribute": "name", "value": "name"}],
}
PEOPLE: dict[str, Any] = {
    "kind": "multi-query",
    "module": MODULE,
    "name": "people",
    "settings": {
        "query": '<fetch><entity name="contact"><attribute name="contactid"/><attribute name="lastname"/>'
        '<attribute name="emailaddress1"/><order attribute="lastname"/><filter>'
        '<condition attribute="parentcustomerid" operator="eq" value="@account"/></filter></entity></fetch>'
    },
    "inputs": [{"name": "account", "type": "Guid", "required": True}],
    "columns": [
        {"attribute": "contactid", "name": "id"},
        {"attribute": "lastname", "name": "last"},
        {"attribute": "emailaddress1", "name": "mail"},
    ],
}
READ_BY_KEY: dict[str, Any] = {
    "kind": "read-by-key",
    "module": MODULE,
    "exposure": "account",
    "name": "number",
    "settings": {"key": "accountnumber"},
    "columns": [
        {"attribute": name}
        for name in ("accountid", "accountnumber", "name", "telephone1", "primarycontactid")
    ],
}
MEMBERS: dict[str, Any] = {
    "kind": "multi-query",
    "module": MODULE,
    "name": "members",
    "settings": {
        "query": '<fetch><entity name="systemuser"><attribute name="fullname"/><order attribute="fullname"/>'
        '<link-entity name="teammembership" from="systemuserid" to="systemuserid"><filter>'
        '<condition attribute="teamid" operator="eq" value="@team"/></filter></link-entity></entity></fetch>'
    },
    "inputs": [{"name": "team", "type": "Guid", "required": True}],
    "columns": [{"attribute": "fullname", "name": "name"}],
}


def everything(platform: Platform) -> ConfigurationDocument:
    return ConfigurationDocument(
        format=2,
        modules=(ModuleDefinition(segment=MODULE, title="Everything"),),
        entities=tuple(
            ExposedEntityDefinition(module=MODULE, segment=name, entity=name)
            for name in (*ENTITIES, *ACTIVITIES, *ASSOCIATED)
        ),
        endpoints=(
            *_usual(platform),
            *map(
                EndpointDefinition.model_validate,
                (CAPPED, ASSOCIATE, MEMBERS, UPSERT, READ_BY_KEY, WITH_PEOPLE, PEOPLE),
            ),
        ),
    )


def _usual(platform: Platform) -> Iterable[EndpointDefinition]:
    known = platform.entities()
    every = [kind.name for kind in USUAL]
    for name in (*ENTITIES, *ACTIVITIES):
        attributes = platform.attributes(name)
        kinds = every if name in ENTITIES else every[:2]
        wanted = Exposure(MODULE, name, kinds, list(attributes))
        yield from endpoints(wanted, known[name], attributes)

"""What a consultant would offer of each entity with every attribute: the studio's own usual operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crmclient import Platform
from designer.definitions import ConfigurationDocument, EndpointDefinition, ModuleDefinition
from designer.definitions.entities import ExposedEntityDefinition
from designer.entity_exposure import USUAL, Exposure, endpoints

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
# Accounts by parameters of every type: what one platform cannot compare with, the other refuses, too.
_COMPARED: tuple[tuple[str, str, str, str], ...] = (
    ("text", "String", "name", "eq"),
    ("part", "String", "description", "contains"),
    ("start", "String", "name", "not-begin-with"),
    ("whole", "Integer", "numberofemployees", "ge"),
    ("long", "BigInt", "new_legacynumber", "ne"),
    ("money", "Money", "revenue", "lt"),
    ("amount", "Money", "new_discount", "lt"),
    ("decimal", "Decimal", "new_discount", "ne"),
    ("double", "Double", "address1_latitude", "ne"),
    ("yes", "Boolean", "donotemail", "eq"),
    ("moment", "DateTime", "createdon", "ge"),
    ("day", "Date", "new_customersince", "on-or-after"),
    ("choice", "OptionSet", "industrycode", "eq"),
    ("choices", "MultiOptionSet", "new_interests", "contain-values"),
    ("reference", "EntityReference", "primarycontactid", "ne"),
    ("id", "Guid", "accountid", "ne"),
)
COMPARED: dict[str, Any] = {
    "kind": "paginated-query",
    "module": MODULE,
    "name": "compared",
    "settings": {
        "query": '<fetch><entity name="account"><attribute name="name"/><order attribute="name"/><filter>'
        + "".join(
            f'<condition attribute="{attribute}" operator="{operator}" value="@{name}"/>'
            for name, _, attribute, operator in _COMPARED
        )
        + "</filter></entity></fetch>",
        "page_size": 3,
    },
    "inputs": [{"name": name, "type": type} for name, type, _, _ in _COMPARED],
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
# Dataverse's own messages: one makes the record that it is given, one runs on a record and answers others.
WIN: dict[str, Any] = {
    "kind": "global-action",
    "module": MODULE,
    "name": "win",
    "settings": {"process": "WinOpportunity", "show_process_message": True},
    "inputs": [
        {"name": "status", "type": "Integer", "required": True},
        {
            "name": "close",
            "type": "Record",
            "required": True,
            "relationship": "OpportunityClose",
            "inputs": [
                {"name": "subject", "max_length": 200},
                {"name": "revenue", "type": "Money"},
                {"name": "opportunity", "type": "EntityReference", "required": True},
            ],
            "bindings": [
                {"attribute": "subject", "value": "subject"},
                {"attribute": "actualrevenue", "value": "revenue"},
                {"attribute": "opportunityid", "value": "opportunity"},
            ],
        },
    ],
    "bindings": [{"attribute": "Status", "value": "status"}],
}
SOLVE: dict[str, Any] = {
    "kind": "global-action",
    "module": MODULE,
    "name": "solve",
    "settings": {"process": "CloseIncident", "show_process_message": True},
    "inputs": [
        {"name": "status", "type": "Integer", "required": True},
        {
            "name": "resolution",
            "type": "Record",
            "required": True,
            "relationship": "IncidentResolution",
            "inputs": [
                {"name": "subject", "max_length": 200},
                {"name": "case", "type": "EntityReference", "required": True},
            ],
            "bindings": [
                {"attribute": "subject", "value": "subject"},
                {"attribute": "incidentid", "value": "case"},
            ],
        },
    ],
    "bindings": [{"attribute": "Status", "value": "status"}],
}
QUALIFY: dict[str, Any] = {
    "kind": "action",
    "module": MODULE,
    "exposure": "lead",
    "name": "qualify",
    "settings": {"process": "QualifyLead", "show_process_message": True},
    "inputs": [
        {"name": "status", "type": "Integer", "required": True},
        {"name": "sale", "type": "Boolean", "required": True},
    ],
    "bindings": [
        {"attribute": "CreateAccount", "source": "constant", "value": True},
        {"attribute": "CreateContact", "source": "constant", "value": True},
        {"attribute": "CreateOpportunity", "value": "sale"},
        {"attribute": "Status", "value": "status"},
    ],
    "columns": [{"attribute": "value", "name": "made"}],
}
# Rules of duplicate detection, and a create and an update that they hold for.
RULES = ("duplicaterule", "duplicaterulecondition")
RULE: dict[str, Any] = {
    "kind": "create",
    "module": MODULE,
    "exposure": "duplicaterule",
    "inputs": [{"name": "name", "required": True}],
    "bindings": [
        {"attribute": "name", "value": "name"},
        *(
            {"attribute": name, "source": "constant", "value": "account"}
            for name in ("baseentityname", "matchingentityname")
        ),
    ],
}
CONDITION: dict[str, Any] = {
    "kind": "create",
    "module": MODULE,
    "exposure": "duplicaterulecondition",
    "inputs": [{"name": "rule", "type": "EntityReference", "required": True}],
    "bindings": [
        {"attribute": "regardingobjectid", "value": "rule"},
        {"attribute": "operatorcode", "source": "constant", "value": 0},
        *(
            {"attribute": name, "source": "constant", "value": "fax"}
            for name in ("baseattributename", "matchingattributename")
        ),
    ],
}
PUBLISH: dict[str, Any] = {
    "kind": "update",
    "module": MODULE,
    "exposure": "duplicaterule",
    "inputs": [{"name": "status", "type": "OptionSet", "required": True}],
    "bindings": [{"attribute": "statuscode", "value": "status"}],
}
UNLIKE_OTHERS: list[dict[str, Any]] = [
    {
        "kind": kind,
        "module": MODULE,
        "exposure": "account",
        "segment": "account-alone",
        "settings": {"refuse_duplicates": True},
        "inputs": [{"name": "name", "required": True}, {"name": "fax", "nullable": True}],
        "bindings": [{"attribute": "name", "value": "name"}, {"attribute": "fax", "value": "fax"}],
    }
    for kind in ("create", "update")
]
IMAGES: list[dict[str, Any]] = [
    {
        "kind": kind,
        "module": MODULE,
        "exposure": "account" if attribute == "new_logo" else "contact",
        "name": "image",
        "settings": {"attribute": attribute},
    }
    for attribute in ("new_logo", "entityimage")
    for kind in ("upload", "download")
]
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
            for name in (*ENTITIES, *ACTIVITIES, *ASSOCIATED, *RULES)
        ),
        endpoints=(
            *_usual(platform),
            *map(
                EndpointDefinition.model_validate,
                (
                    *(CAPPED, COMPARED, ASSOCIATE, MEMBERS, UPSERT, READ_BY_KEY, WITH_PEOPLE, PEOPLE),
                    *(WIN, SOLVE, QUALIFY, RULE, CONDITION, PUBLISH, *UNLIKE_OTHERS, *IMAGES),
                ),
            ),
        ),
    )


def _usual(platform: Platform) -> Iterable[EndpointDefinition]:
    entities = platform.entities()
    every = [kind.name for kind in USUAL]
    for name in (*ENTITIES, *ACTIVITIES):
        attributes = platform.attributes(name)
        kinds = every if name in ENTITIES else every[:2]
        wanted = Exposure(MODULE, name, kinds, list(attributes))
        yield from endpoints(wanted, entities[name], attributes)

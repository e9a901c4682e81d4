"""Dataverse's names for what every CRM has."""

from __future__ import annotations

from typing import Final

from crmclient.conventions import EVERYTHING, Ability, Conventions, Notes, Ownership, SystemAttributes, Users
from crmclient.dataverse.metadata.metadata_json import ACTIVE
from crmclient.dataverse.own_messages import FORBIDDEN
from crmclient.metadata import AttributeType

CONVENTIONS: Final = Conventions(
    records=SystemAttributes(
        version="versionnumber",
        ownership=Ownership(
            "ownerid",
            by_entity={"owninguser": "systemuser", "owningteam": "team"},
            unit="owningbusinessunit",
            unit_of_owner="businessunitid",
        ),
        state="statecode",
        status="statuscode",
        first_state=ACTIVE,
        set_to_caller=frozenset({"ownerid", "createdby", "modifiedby"}),
        # In the organisation's order of names, and in its own currency.
        composed={"fullname": frozenset({"firstname", "middlename", "lastname"})},
        composed_suffixes=("_base",),
        filled=frozenset({"transactioncurrencyid"}),
        filled_types=frozenset({AttributeType.BOOLEAN, AttributeType.PICKLIST, AttributeType.MULTISELECT}),
    ),
    users=Users(
        "systemuser",
        id="systemuserid",
        name="fullname",
        disabled="isdisabled",
        mail="internalemailaddress",
    ),
    notes=Notes(
        "annotation",
        id="annotationid",
        regarding="objectid",
        subject="subject",
        file="documentbody",
        file_name="filename",
        content_type="mimetype",
        size="filesize",
        created="createdon",
        has_file="isdocument",
    ),
    common=frozenset({"emailaddress1", "telephone1", "statecode", "createdon"}),
    # The value of a group by fiscal period or year is not documented.
    abilities=EVERYTHING - {Ability.LINKED_PAGES, Ability.FISCAL_GROUPS},
    forbidden_processes=FORBIDDEN,
)

"""Dataverse's own messages: which of them endpoints may run, and which nobody may.

`$metadata` lists some hundreds. What is not `OFFERED` is not offered; what is `FORBIDDEN` is refused wherever
a configuration names it, too: whoever may call an endpoint could otherwise give rights away, change metadata,
or delete records without number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from crmclient.optional_abilities import AccessRight


@dataclass(frozen=True, slots=True)
class Message:
    """What `$metadata` does not say of a message.

    `records` are the parameters whose record the message makes; of others of an entity's type it takes the id
    of one that is there. `targets` are the entities of a parameter that `$metadata` says any entity of.
    """

    label: str
    records: frozenset[str] = frozenset()
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_CUSTOMERS: Final = ("account", "contact")
_ACTIVITIES: Final = (
    *("appointment", "email", "fax", "letter", "phonecall", "serviceappointment", "socialactivity", "task"),
)
_QUEUED: Final = ("incident", *_ACTIVITIES)
_PERSONS: Final = ("systemuser", "team")


def _message(label: str, *records: str, **targets: tuple[str, ...]) -> Message:
    """Return a message, with the names of `records` and the `targets` by parameter."""
    return Message(label, frozenset(records), targets)


OFFERED: Final[Mapping[str, Message]] = {
    # Sales
    "QualifyLead": _message("Qualify lead", OpportunityCustomerId=_CUSTOMERS),
    "WinOpportunity": _message("Win opportunity", "OpportunityClose"),
    "LoseOpportunity": _message("Lose opportunity", "OpportunityClose"),
    "GenerateQuoteFromOpportunity": _message("Generate quote from opportunity"),
    "GenerateSalesOrderFromOpportunity": _message("Generate order from opportunity"),
    "GenerateInvoiceFromOpportunity": _message("Generate invoice from opportunity"),
    "WinQuote": _message("Win quote", "QuoteClose"),
    "CloseQuote": _message("Close quote", "QuoteClose"),
    "ReviseQuote": _message("Revise quote"),
    "ConvertQuoteToSalesOrder": _message("Convert quote to order", "QuoteClose"),
    "ConvertSalesOrderToInvoice": _message("Convert order to invoice"),
    "CancelSalesOrder": _message("Cancel order", "OrderClose"),
    "FulfillSalesOrder": _message("Fulfill order", "OrderClose"),
    "LockSalesOrderPricing": _message("Lock prices of order"),
    "UnlockSalesOrderPricing": _message("Unlock prices of order"),
    "LockInvoicePricing": _message("Lock prices of invoice"),
    "UnlockInvoicePricing": _message("Unlock prices of invoice"),
    "CalculatePrice": _message("Calculate price", Target=("opportunity", "quote", "salesorder", "invoice")),
    # Service
    "CloseIncident": _message("Resolve case", "IncidentResolution"),
    "ApplyRoutingRule": _message("Apply routing rule", Target=("incident",)),
    "CancelContract": _message("Cancel contract"),
    "RenewContract": _message("Renew contract"),
    "CloneContract": _message("Clone contract"),
    "RenewEntitlement": _message("Renew entitlement"),
    # Queues and owners
    "AddToQueue": _message("Add to queue", "QueueItemProperties", Target=_QUEUED),
    "PickFromQueue": _message("Pick from queue"),
    "ReleaseToQueue": _message("Release to queue"),
    "RemoveFromQueue": _message("Remove from queue"),
    "RouteTo": _message("Route queue item", Target=("queue", *_PERSONS)),
    "Assign": _message("Assign", Assignee=_PERSONS),
    # Activities
    "SendEmail": _message("Send email"),
    "SendEmailFromTemplate": _message("Send email from template", "Target"),
    "SendFax": _message("Send fax"),
    "Book": _message("Book appointment", "Target"),
    "Reschedule": _message("Reschedule appointment", "Target"),
    # Marketing
    "AddItem": _message("Add item to campaign"),
    "AddListMembersList": _message("Add members to list"),
    "RemoveMemberList": _message("Remove member from list"),
    "CopyCampaign": _message("Copy campaign"),
    "CopyCampaignResponse": _message("Copy campaign response"),
    "CopyDynamicListToStatic": _message("Copy dynamic list to static"),
    "CopyMembersList": _message("Copy members of list"),
    # Knowledge and products
    "CreateKnowledgeArticleTranslation": _message("Create translation of article"),
    "CreateKnowledgeArticleVersion": _message("Create version of article"),
    "IncrementKnowledgeArticleViewCount": _message("Count view of article"),
    "CloneProduct": _message("Clone product"),
    "ConvertProductToKit": _message("Convert product to kit"),
    "RevertProduct": _message("Revert product"),
}

_CLOSED_BY_ACTIVITY: Final[Mapping[str, tuple[AccessRight, ...]]] = {
    "activitypointer": (AccessRight.CREATE, AccessRight.APPEND),
    "opportunity": (AccessRight.WRITE, AccessRight.APPEND_TO),
}

RIGHTS: Final[Mapping[str, Mapping[str, tuple[AccessRight, ...]]]] = {
    "WinOpportunity": _CLOSED_BY_ACTIVITY,
    "LoseOpportunity": _CLOSED_BY_ACTIVITY,
    "CloseIncident": {
        "activitypointer": (AccessRight.CREATE, AccessRight.READ, AccessRight.WRITE, AccessRight.APPEND),
        "incident": (AccessRight.WRITE, AccessRight.APPEND_TO),
        "queueitem": (AccessRight.DELETE,),
    },
    "ApplyRoutingRule": {"incident": (AccessRight.WRITE,)},
    "AddToQueue": {"queue": (AccessRight.APPEND_TO,)},
    "SendEmail": {
        "activitypointer": (AccessRight.READ, AccessRight.WRITE),
        "systemuser": (AccessRight.READ,),
    },
    "ReviseQuote": {
        "quote": (AccessRight.CREATE, AccessRight.READ, AccessRight.APPEND),
        "account": (AccessRight.APPEND_TO,),
        "product": (AccessRight.APPEND_TO,),
    },
}
"""The rights that messages need, by message and entity, as Microsoft documents the privileges of messages.

Of those that are not here, such as QualifyLead, the documentation does not say it.
"""

_OF_RIGHTS: Final = """
    AddMembersTeam AddPrincipalToQueue AddPrivilegesRole AddSubstitute AddUserToRecordTeam
    ConvertOwnerTeamToAccessTeam CreateAsyncJobToRevokeInheritedAccess GrantAccess ModifyAccess
    ReassignObjectsOwner ReassignObjectsSystemUser RemoveMembersTeam RemoveParent RemovePrivilegeRole
    RemoveSubstitute RemoveUserFromRecordTeam ReplacePrivilegesRole RevokeAccess RolesAssign
    SetBusinessEquipment SetBusinessSystemUser SetDataEncryptionKey SetParentBusinessUnit SetParentSystemUser
    SetParentTeam SyncUser UpdateUserSettingsSystemUser
"""
_OF_METADATA: Final = """
    AddAppComponents AddSolutionComponent CloneAsPatch CloneAsSolution ConvertDateAndTimeBehavior
    CreateAttribute CreateCustomerRelationships CreateEntity CreateEntityKey CreateManyToMany
    CreateOneToMany CreateOptionSet CreatePolymorphicLookupAttribute DeleteAndPromote DeleteAttribute
    DeleteEntity DeleteEntityKey DeleteOptionSet DeleteOptionValue DeleteRelationship DeprovisionLanguage
    ExecuteWorkflow ExportSolution ExportSolutionAsync ImportFieldTranslation ImportSolution
    ImportSolutionAsync ImportTranslation InsertOptionValue InsertStatusValue OrderAttribute OrderOption
    ProvisionLanguage ProvisionLanguageAsync PublishAllXml PublishAllXmlAsync PublishDuplicateRule
    PublishTheme PublishXml ReactivateEntityKey RemoveAppComponents RemoveSolutionComponent SetAutoNumberSeed
    SetFeatureStatus SetLocLabels StageAndUpgrade StageAndUpgradeAsync StageSolution UninstallSampleData
    UnpublishDuplicateRule UpdateAttribute UpdateEntity UpdateFeatureConfig UpdateOptionSet UpdateOptionValue
    UpdateRelationship UpdateSolutionComponent UpdateStateValue
"""
_OF_MANY_RECORDS: Final = """
    BulkDelete BulkDelete2 BulkDetectDuplicates CreateMultiple DeleteAuditData DeleteMultiple
    DeleteOpenInstances DeleteRecordChangeHistory ExecuteMultiple ExecuteTransaction ImportRecordsImport
    PurgeRetainedContent RollbackRetain SendBulkMail TransformImport UpdateMultiple UpsertMultiple
"""

FORBIDDEN: Final = frozenset(f"{_OF_RIGHTS} {_OF_METADATA} {_OF_MANY_RECORDS}".split())
"""Messages about rights, about metadata, and about records without number."""

"""Dataverse's own messages: which of them endpoints may run, and which nobody may.

`$metadata` lists some hundreds. What is not `OFFERED` is not offered; what is `FORBIDDEN` is refused wherever
a configuration names it, too: whoever may call an endpoint could otherwise give rights away, change metadata,
or delete records without number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


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


def _making(label: str, *records: str, **targets: tuple[str, ...]) -> Message:
    return Message(label, frozenset(records), targets)


OFFERED: Final[Mapping[str, Message]] = {
    # Sales
    "QualifyLead": _making("Qualify lead", OpportunityCustomerId=_CUSTOMERS),
    "WinOpportunity": _making("Win opportunity", "OpportunityClose"),
    "LoseOpportunity": _making("Lose opportunity", "OpportunityClose"),
    "GenerateQuoteFromOpportunity": _making("Generate quote from opportunity"),
    "GenerateSalesOrderFromOpportunity": _making("Generate order from opportunity"),
    "GenerateInvoiceFromOpportunity": _making("Generate invoice from opportunity"),
    "WinQuote": _making("Win quote", "QuoteClose"),
    "CloseQuote": _making("Close quote", "QuoteClose"),
    "ReviseQuote": _making("Revise quote"),
    "ConvertQuoteToSalesOrder": _making("Convert quote to order", "QuoteClose"),
    "ConvertSalesOrderToInvoice": _making("Convert order to invoice"),
    "CancelSalesOrder": _making("Cancel order", "OrderClose"),
    "FulfillSalesOrder": _making("Fulfill order", "OrderClose"),
    "LockSalesOrderPricing": _making("Lock prices of order"),
    "UnlockSalesOrderPricing": _making("Unlock prices of order"),
    "LockInvoicePricing": _making("Lock prices of invoice"),
    "UnlockInvoicePricing": _making("Unlock prices of invoice"),
    "CalculatePrice": _making("Calculate price", Target=("opportunity", "quote", "salesorder", "invoice")),
    # Service
    "CloseIncident": _making("Resolve case", "IncidentResolution"),
    "ApplyRoutingRule": _making("Apply routing rule", Target=("incident",)),
    "CancelContract": _making("Cancel contract"),
    "RenewContract": _making("Renew contract"),
    "CloneContract": _making("Clone contract"),
    "RenewEntitlement": _making("Renew entitlement"),
    # Queues and owners
    "AddToQueue": _making("Add to queue", "QueueItemProperties", Target=_QUEUED),
    "PickFromQueue": _making("Pick from queue"),
    "ReleaseToQueue": _making("Release to queue"),
    "RemoveFromQueue": _making("Remove from queue"),
    "RouteTo": _making("Route queue item", Target=("queue", *_PERSONS)),
    "Assign": _making("Assign", Assignee=_PERSONS),
    # Activities
    "SendEmail": _making("Send email"),
    "SendEmailFromTemplate": _making("Send email from template", "Target"),
    "SendFax": _making("Send fax"),
    "Book": _making("Book appointment", "Target"),
    "Reschedule": _making("Reschedule appointment", "Target"),
    # Marketing
    "AddItem": _making("Add item to campaign"),
    "AddListMembersList": _making("Add members to list"),
    "RemoveMemberList": _making("Remove member from list"),
    "CopyCampaign": _making("Copy campaign"),
    "CopyCampaignResponse": _making("Copy campaign response"),
    "CopyDynamicListToStatic": _making("Copy dynamic list to static"),
    "CopyMembersList": _making("Copy members of list"),
    # Knowledge and products
    "CreateKnowledgeArticleTranslation": _making("Create translation of article"),
    "CreateKnowledgeArticleVersion": _making("Create version of article"),
    "IncrementKnowledgeArticleViewCount": _making("Count view of article"),
    "CloneProduct": _making("Clone product"),
    "ConvertProductToKit": _making("Convert product to kit"),
    "RevertProduct": _making("Revert product"),
}

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

"""QualifyLead: makes an account, a contact and an opportunity of a lead, as requested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crmbox.own_messages.states import close_record, known_values, retrieve_open_record, status_of
from crmbox.processes import Context, process
from crmclient.dataverse.own_messages import OFFERED
from crmclient.errors import Refused
from crmclient.metadata import AttributeType, Holds, ProcessParameter
from crmclient.values import ProcessValues, Record, Reference, Value, Values

_QUALIFIED: Final = 1
# The attributes of the lead that each record takes over, by its own attribute.
_ACCOUNT: Final = {
    "name": "companyname",
    "telephone1": "telephone1",
    "emailaddress1": "emailaddress1",
    "websiteurl": "websiteurl",
    "industrycode": "industrycode",
    "numberofemployees": "numberofemployees",
    "revenue": "revenue",
    "address1_city": "address1_city",
    "address1_country": "address1_country",
    "description": "description",
}
_CONTACT: Final = {
    "firstname": "firstname",
    "lastname": "lastname",
    "jobtitle": "jobtitle",
    "emailaddress1": "emailaddress1",
    "telephone1": "telephone1",
    "mobilephone": "mobilephone",
    "donotemail": "donotemail",
    "address1_city": "address1_city",
    "address1_country": "address1_country",
    "description": "description",
}
_OPPORTUNITY: Final = {
    "name": "subject",
    "estimatedvalue": "estimatedamount",
    "estimatedclosedate": "estimatedclosedate",
    "description": "description",
}
_PARENTS: Final = ("parentaccountid", "parentcontactid")
_READ: Final = tuple(
    dict.fromkeys((*_ACCOUNT.values(), *_CONTACT.values(), *_OPPORTUNITY.values(), *_PARENTS))
)


@process(
    "QualifyLead",
    label=OFFERED["QualifyLead"].label,
    entity="lead",
    inputs=(
        ProcessParameter("CreateAccount", AttributeType.BOOLEAN),
        ProcessParameter("CreateContact", AttributeType.BOOLEAN),
        ProcessParameter("CreateOpportunity", AttributeType.BOOLEAN),
        ProcessParameter(
            "OpportunityCustomerId",
            AttributeType.LOOKUP,
            False,
            OFFERED["QualifyLead"].targets["OpportunityCustomerId"],
        ),
        ProcessParameter("Status", AttributeType.INTEGER),
    ),
    outputs=(ProcessParameter("value", AttributeType.LOOKUP, False, holds=Holds.RECORDS),),
)
def qualify_lead(context: Context, inputs: Mapping[str, Any]) -> ProcessValues:
    """Qualify a lead: create the records that the inputs ask for, and close the lead.

    Returns references to the new records. The lead's own account and contact are used where no new ones are
    asked for.
    """
    if context.target is None:
        raise Refused("A lead to qualify is needed.")
    lead = retrieve_open_record(context, context.target, _READ)
    status = status_of(context, "lead", _QUALIFIED, inputs["Status"])
    new_records: list[Reference] = []

    def make(entity: str, taken_over: Mapping[str, str], **more: Value) -> Reference:
        """Create a record. `taken_over` maps its attributes to those of the lead, `more` are other values."""
        values = {name: lead.values.get(source) for name, source in taken_over.items()}
        values |= {"originatingleadid": context.target, **more}
        new_records.append(_create(context, entity, values))
        return new_records[-1]

    account, contact = (_parent(lead, name) for name in _PARENTS)
    if inputs["CreateAccount"]:
        account = make("account", _ACCOUNT)
    if inputs["CreateContact"]:
        contact = make("contact", _CONTACT, parentcustomerid=account)
    if inputs["CreateOpportunity"]:
        customer = inputs["OpportunityCustomerId"] or account or contact
        make(
            "opportunity", _OPPORTUNITY, customerid=customer, parentaccountid=account, parentcontactid=contact
        )
    close_record(
        context, lead, {"statuscode": status, "parentaccountid": account, "parentcontactid": contact}
    )
    return {"value": tuple(new_records)}


def _parent(lead: Record, name: str) -> Reference | None:
    value = lead.values.get(name)
    return value if isinstance(value, Reference) else None


def _create(context: Context, entity: str, values: Values) -> Reference:
    """Create a record of those values that are not empty and whose attributes the entity has."""
    filled_values = {name: value for name, value in values.items() if value is not None}
    stored = context.platform.create(entity, known_values(context, entity, filled_values), call=context.call)
    return Reference(entity, stored.id)

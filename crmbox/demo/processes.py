"""The demo's custom processes: one for everybody, one bound to accounts, two bound to cases."""

from __future__ import annotations

from typing import Final

from crmbox.processes import Context, process
from crmclient.errors import Refused
from crmclient.metadata import AttributeType, ProcessParameter
from crmclient.values import Record, Reference, Values

_ACTIVE: Final = 0
_PROBLEM_SOLVED: Final = 5
_CANCELLED: Final = 6


@process(
    "new_Ping",
    label="Ping",
    description="Answers what it is told, to see that processes can be reached.",
    inputs=(ProcessParameter("Message", AttributeType.STRING, description="Any text."),),
    outputs=(ProcessParameter("Echo", AttributeType.STRING, description="The same text."),),
)
def ping(context: Context, inputs: Values) -> Values:
    return {"Echo": inputs["Message"]}


@process(
    "new_Approve",
    label="Approve Account",
    description="Approves an active account and leaves a note on it that says so.",
    entity="account",
    privilege="prvWriteAccount",
    inputs=(ProcessParameter("Comment", AttributeType.STRING, description="Why; kept in the note."),),
    outputs=(ProcessParameter("Approved", AttributeType.BOOLEAN),),
)
def approve(context: Context, inputs: Values) -> Values:
    """Leave a note of approval on the account that the process is called on.

    Raises Refused for an inactive one.
    """
    account = context.target
    if account is None:
        raise Refused("An account to approve is needed.")
    _retrieve_active(context, account, "name", "is inactive and cannot be approved")
    context.platform.create(
        "annotation",
        {"subject": "Approved", "notetext": inputs["Comment"], "objectid": account},
        call=context.call,
    )
    return {"Approved": True}


@process(
    "new_CloseCase",
    label="Close Case",
    description="Closes an active case as solved, and keeps the resolution in a note.",
    entity="incident",
    inputs=(
        ProcessParameter(
            "Resolution",
            AttributeType.STRING,
            required=False,
            description="How it was solved; kept in a note.",
        ),
    ),
    outputs=(ProcessParameter("Closed", AttributeType.BOOLEAN),),
)
def close_case(context: Context, inputs: Values) -> Values:
    """Close the case that the process is called on as solved. Raises Refused for a closed one."""
    case = context.target
    if case is None:
        raise Refused("A case to close is needed.")
    record = _retrieve_active(context, case, "title", "is closed already")
    context.platform.update(
        "incident", case.id, {"statuscode": _PROBLEM_SOLVED}, if_version=record.version, call=context.call
    )
    if inputs["Resolution"]:
        context.platform.create(
            "annotation",
            {"subject": "Resolution", "notetext": inputs["Resolution"], "objectid": case},
            call=context.call,
        )
    return {"Closed": True}


@process(
    "new_CancelCase",
    label="Cancel Case",
    description="Cancels an active case.",
    entity="incident",
)
def cancel_case(context: Context, inputs: Values) -> Values:
    """Cancel the case that the process is called on. Raises Refused for a closed one."""
    case = context.target
    if case is None:
        raise Refused("A case to cancel is needed.")
    record = _retrieve_active(context, case, "title", "is closed already")
    context.platform.update(
        "incident", case.id, {"statuscode": _CANCELLED}, if_version=record.version, call=context.call
    )
    return {}


def _retrieve_active(context: Context, target: Reference, name: str, refusal: str) -> Record:
    """Return an active record. Raises Refused for another one: its `name`, followed by `refusal`.

    Raises Refused for an entity without states, too: an import makes an entity of any name as its source
    describes it.
    """
    attributes = context.platform.attributes(target.entity)
    if "statecode" not in attributes:
        raise Refused(f"The process needs records with a state, and {target.entity} has none.")
    columns = [column for column in (name, "statecode") if column in attributes]
    record = context.platform.retrieve(target.entity, target.id, columns, call=context.call)
    if record.values["statecode"] != _ACTIVE:
        raise Refused(f"{record.values.get(name) or 'The record'} {refusal}.")
    return record

"""The demo's custom processes: one for everybody, one bound to accounts, two bound to cases."""

from __future__ import annotations

from typing import Final

from crmbox.processes import Context, process
from crmclient.errors import Refused
from crmclient.metadata import AttributeType, ProcessParameter
from crmclient.values import Values

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
    inputs=(ProcessParameter("Comment", AttributeType.STRING, description="Why; kept in the note."),),
    outputs=(ProcessParameter("Approved", AttributeType.BOOLEAN),),
)
def approve(context: Context, inputs: Values) -> Values:
    account = context.target
    if account is None:
        raise Refused("An account to approve is needed.")
    record = context.platform.retrieve("account", account.id, ["name", "statecode"], call=context.call)
    if record.values["statecode"] != _ACTIVE:
        raise Refused(f"{record.values['name']} is inactive and cannot be approved.")
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
    case = context.target
    if case is None:
        raise Refused("A case to close is needed.")
    record = context.platform.retrieve("incident", case.id, ["title", "statecode"], call=context.call)
    if record.values["statecode"] != _ACTIVE:
        raise Refused(f"{record.values['title']} is closed already.")
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
    case = context.target
    if case is None:
        raise Refused("A case to cancel is needed.")
    record = context.platform.retrieve("incident", case.id, ["title", "statecode"], call=context.call)
    if record.values["statecode"] != _ACTIVE:
        raise Refused(f"{record.values['title']} is closed already.")
    context.platform.update(
        "incident", case.id, {"statuscode": _CANCELLED}, if_version=record.version, call=context.call
    )
    return {}

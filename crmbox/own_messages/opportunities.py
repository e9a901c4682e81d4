"""WinOpportunity and LoseOpportunity: close an opportunity, and make an activity that says how."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from crmbox.own_messages.states import (
    close_record,
    create_closing_activity,
    record_to_close,
    retrieve_open_record,
    status_of,
)
from crmbox.processes import Context, process
from crmclient.dataverse.own_messages import OFFERED
from crmclient.metadata import AttributeType, Holds, ProcessParameter
from crmclient.values import ProcessValues

_WON: Final = 1
_LOST: Final = 2
_CLOSE: Final = "OpportunityClose"
_INPUTS: Final = (
    ProcessParameter(_CLOSE, AttributeType.LOOKUP, True, ("opportunityclose",), holds=Holds.RECORD),
    ProcessParameter("Status", AttributeType.INTEGER),
)


@process("WinOpportunity", label=OFFERED["WinOpportunity"].label, inputs=_INPUTS)
def win_opportunity(context: Context, inputs: Mapping[str, Any]) -> ProcessValues:
    _close(context, inputs, _WON)
    return {}


@process("LoseOpportunity", label=OFFERED["LoseOpportunity"].label, inputs=_INPUTS)
def lose_opportunity(context: Context, inputs: Mapping[str, Any]) -> ProcessValues:
    _close(context, inputs, _LOST)
    return {}


def _close(context: Context, inputs: Mapping[str, Any], state: int) -> None:
    """Close the opportunity of the closing activity in `inputs`, as won or lost (`state`), and create that
    activity.
    """
    activity = inputs[_CLOSE]
    opportunity = record_to_close(activity, "opportunityid")
    record = retrieve_open_record(context, opportunity, ("estimatedvalue",))
    status = status_of(context, opportunity.entity, state, inputs["Status"])
    # As on the platform, a won opportunity without actual revenue gets the estimated one.
    revenue = activity.values.get("actualrevenue")
    if revenue is None and state == _WON:
        revenue = record.values.get("estimatedvalue")
    ended_on = activity.values.get("actualend") or dt.datetime.now(dt.UTC)
    create_closing_activity(context, activity)
    values = {"statuscode": status, "actualvalue": revenue, "actualclosedate": ended_on.date()}
    close_record(context, record, values)

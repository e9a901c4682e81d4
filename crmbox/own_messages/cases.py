"""CloseIncident: resolves a case, and makes an activity that says how."""

from __future__ import annotations

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

_RESOLVED: Final = 1
_RESOLUTION: Final = "IncidentResolution"


@process(
    "CloseIncident",
    label=OFFERED["CloseIncident"].label,
    inputs=(
        ProcessParameter(
            _RESOLUTION, AttributeType.LOOKUP, True, ("incidentresolution",), holds=Holds.RECORD
        ),
        ProcessParameter("Status", AttributeType.INTEGER),
    ),
)
def close_incident(context: Context, inputs: Mapping[str, Any]) -> ProcessValues:
    """Close the case that the resolution in the inputs is about, and create the resolution."""
    activity = inputs[_RESOLUTION]
    case = record_to_close(activity, "incidentid")
    record = retrieve_open_record(context, case, ())
    status = status_of(context, case.entity, _RESOLVED, inputs["Status"])
    create_closing_activity(context, activity)
    close_record(context, record, {"statuscode": status})
    return {}

"""A process of the CRM in the box, bound to contacts."""

from __future__ import annotations

from crmbox.processes import Context, process
from crmclient.errors import Refused
from crmclient.metadata import AttributeType, ProcessParameter
from crmclient.values import Values


@process(
    "example_Greet",
    label="Greet",
    description="Greets a contact by first name.",
    entity="contact",
    inputs=(ProcessParameter("Greeting", AttributeType.STRING, description="Such as Hello."),),
    outputs=(ProcessParameter("Text", AttributeType.STRING),),
)
def greet(context: Context, inputs: Values) -> Values:
    if context.target is None:
        raise Refused("A contact to greet is needed.")
    record = context.platform.retrieve("contact", context.target.id, ["firstname"], call=context.call)
    name = record.values["firstname"]
    if not name:
        raise Refused("The contact has no first name.")
    return {"Text": f"{inputs['Greeting']} {name}"}

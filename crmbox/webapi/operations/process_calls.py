"""The platform's processes as actions (POST) and functions (GET), bound to a record or unbound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crmbox.webapi.errors import no_resource, unsupported
from crmbox.webapi.keys import locate
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.operations import user_privileges
from crmbox.webapi.operations.bulk import BULK
from crmbox.webapi.operations.parameters import (
    read_arguments,
    read_inputs,
    reference_json,
    render_outputs,
)
from crmbox.webapi.operations.unsupported_messages import DOCUMENTED
from crmbox.webapi.paths import Argument
from crmbox.webapi.rendering import context
from crmbox.webapi.request import Request, Response, json_response, no_content
from crmbox.webapi.routing import Shape, Target, on, unbound
from crmclient.metadata import Holds, Process
from crmclient.values import ProcessValues, Reference


def is_collection(process: Process) -> bool:
    """Return whether the answer of a process is only a collection of records, which OData calls `value`."""
    return [(output.name, output.holds) for output in process.outputs] == [("value", Holds.RECORDS)]


@unbound
def run_unbound(request: Request) -> Response:
    """Run the process that the path names, which is bound to no entity."""
    segment = request.path[0]
    process = _process(request, segment.name, None)
    arguments = _raw_arguments(request, segment.arguments)
    return _run_process(request, process, arguments, None)


@on(Shape.OPERATION, "POST", "GET")
def run_bound(request: Request, target: Target) -> Response:
    """Run the process that the path names on the record in the path; on a collection, a bulk operation."""
    if not target.key:
        bulk = BULK.get(target.name)
        if bulk is None or request.method != "POST":
            raise unsupported(f"{request.method} {NAMESPACE}.{target.name} on a collection")
        return bulk(request, target.type)
    if user_privileges.is_answered(target):
        return user_privileges.answer(request, target)
    process = _process(request, target.name, target.type.name)
    arguments = _raw_arguments(request, target.arguments)
    id = locate(request, target.type, target.key)
    return _run_process(request, process, arguments, Reference(target.type.name, id))


def _process(request: Request, name: str, entity: str | None) -> Process:
    """Return the process of this name that is bound to `entity`; None: that is bound to none.

    Otherwise raises WebApiError: 501 for a message that Dataverse documents, 404 for any other name.
    """
    process = request.platform.processes().get(name)
    if process is None or process.entity != entity:
        raise unsupported(f"the message {name}") if name in DOCUMENTED else no_resource(name)
    return process


def _raw_arguments(request: Request, arguments: tuple[Argument, ...] | None) -> Mapping[str, Any]:
    """Return the arguments of a call as sent: in the URL of a GET, in the body of a POST."""
    if request.method == "GET":
        return read_arguments(request, arguments or ())
    if request.method != "POST":
        raise unsupported(f"{request.method} of an operation")
    return request.json_or_empty()


def _run_process(
    request: Request, process: Process, arguments: Mapping[str, Any], target: Reference | None
) -> Response:
    """Run a process with the arguments as sent, on the record `target` if it is bound. Answer its outputs."""
    inputs = read_inputs(request, process, arguments)
    outputs = request.platform.execute(process.name, inputs, target=target, call=request.call)
    return _answer(request, process, outputs) if process.outputs else no_content()


def _answer(request: Request, process: Process, outputs: ProcessValues) -> Response:
    """Answer with the outputs by name, or with the record if a single one is all there is."""
    first_output = next(iter(outputs.values()))
    if len(outputs) == 1 and isinstance(first_output, Reference):
        context_url = context(request.base, request.model.entity_type(first_output.entity), single=True)
        return json_response({"@odata.context": context_url, **reference_json(request.model, first_output)})
    if is_collection(process):
        context_url = f"{request.base}$metadata#Collection({NAMESPACE}.crmbaseentity)"
    else:
        context_url = f"{request.base}$metadata#{NAMESPACE}.{process.name}Response"
    return json_response({"@odata.context": context_url, **render_outputs(request.model, outputs)})

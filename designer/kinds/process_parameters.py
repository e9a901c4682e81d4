"""The parameters of a process as attributes, so that the same rules check both."""

from __future__ import annotations

from collections.abc import Mapping

from crmclient.metadata import ENGLISH, Attribute, Holds, Label, Process, ProcessParameter, RequiredLevel


def inputs_of(process: Process) -> Mapping[str, Attribute]:
    """Return the inputs of a process that bindings may set, by name.

    Records are groups of inputs instead (`designer.kinds.record_groups`). The options of a choice parameter
    are not known.
    """
    return {
        parameter.name: _as_attribute(parameter)
        for parameter in process.inputs
        if parameter.holds is Holds.VALUE
    }


def outputs_of(process: Process) -> Mapping[str, Attribute]:
    """Return the outputs of a process that columns may answer, by name.

    Records are answered as references.
    """
    return {parameter.name: _as_attribute(parameter) for parameter in process.outputs}


def _as_attribute(parameter: ProcessParameter) -> Attribute:
    """Return an attribute with the name, type and targets of a parameter. A parameter has no label."""
    return Attribute(
        parameter.name,
        parameter.type,
        description=Label({ENGLISH: parameter.description}),
        required=RequiredLevel.APPLICATION if parameter.required else RequiredLevel.NONE,
        targets=parameter.targets,
        is_several=parameter.holds is Holds.RECORDS,
    )

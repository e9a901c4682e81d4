"""A process's parameters, seen as attributes: the same types and duties, so one set of rules does."""

from __future__ import annotations

from collections.abc import Mapping

from crmclient.metadata import ENGLISH, Attribute, Holds, Label, Process, ProcessParameter, RequiredLevel


def inputs_of(process: Process) -> Mapping[str, Attribute]:
    """What bindings may set, by name: records are groups of inputs (`designer.kinds.record_groups`).

    A choice parameter's options are the process's own business: none are known.
    """
    return {known.name: _as_attribute(known) for known in process.inputs if known.holds is Holds.VALUE}


def outputs_of(process: Process) -> Mapping[str, Attribute]:
    """What columns may answer, by name: of records their references."""
    return {known.name: _as_attribute(known) for known in process.outputs}


def _as_attribute(parameter: ProcessParameter) -> Attribute:
    return Attribute(
        parameter.name,
        parameter.type,
        description=Label({ENGLISH: parameter.description}),
        required=RequiredLevel.APPLICATION if parameter.required else RequiredLevel.NONE,
        targets=parameter.targets,
        is_several=parameter.holds is Holds.RECORDS,
    )

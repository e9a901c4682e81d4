"""A process's parameters, seen as attributes: the same types and duties, so one set of rules does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crmclient.metadata import ENGLISH, Attribute, Holds, Label, ProcessParameter, RequiredLevel


def as_attributes(parameters: Iterable[ProcessParameter]) -> Mapping[str, Attribute]:
    """Those that hold one value, by name. A choice parameter's options are the process's own business."""
    return {
        parameter.name: _as_attribute(parameter) for parameter in parameters if parameter.holds is Holds.VALUE
    }


def _as_attribute(parameter: ProcessParameter) -> Attribute:
    return Attribute(
        parameter.name,
        parameter.type,
        description=Label({ENGLISH: parameter.description}),
        required=RequiredLevel.APPLICATION if parameter.required else RequiredLevel.NONE,
        targets=parameter.targets,
    )

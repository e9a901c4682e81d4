"""Records that calls hand over as groups of inputs: those of a relationship, or of a process's parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from crmclient.metadata import Holds, Process, Relationship


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """A relationship or a process parameter whose records an input may hold.

    `name` is that of a relationship or of a parameter, `entity` that of the records; `several`: it is a list.
    `parent` is the attribute that is set to the endpoint's own record, empty where none is.
    """

    name: str
    entity: str
    several: bool = True
    parent: str = ""
    required: bool = False


def groups_of_entity(entity: str, relationships: Iterable[Relationship]) -> Mapping[str, RecordGroup]:
    """Return the groups of records that can be created with a record of `entity`, by relationship."""
    return {
        relationship.name: RecordGroup(
            relationship.name, relationship.referencing, parent=relationship.referencing_attribute or ""
        )
        for relationship in relationships
        if relationship.is_to_many_from(entity)
    }


def groups_of_process(process: Process) -> Mapping[str, RecordGroup]:
    """Return the groups of records that a process takes, by parameter.

    A parameter that may hold records of several entities, or does not say of which, has no group: the inputs
    of a group are bound to attributes of one entity.
    """
    return {
        parameter.name: RecordGroup(
            parameter.name,
            parameter.targets[0],
            several=parameter.holds is Holds.RECORDS,
            required=parameter.required,
        )
        for parameter in process.inputs
        if parameter.holds is not Holds.VALUE and len(parameter.targets) == 1
    }

"""Records that calls hand over as groups of inputs: those of a relationship, or of a process's parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from crmclient.metadata import Holds, Process, Relationship


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """What an input that holds records may stand for.

    `name` is that of a relationship or of a parameter, `entity` that of the records; `several`: it is a list.
    `parent` is the attribute that is set to the endpoint's own record, empty where none is.
    """

    name: str
    entity: str
    several: bool = True
    parent: str = ""
    required: bool = False


def groups_of_entity(entity: str, relationships: Iterable[Relationship]) -> Mapping[str, RecordGroup]:
    """What is made along with a record of `entity`, by relationship."""
    return {
        known.name: RecordGroup(known.name, known.referencing, parent=known.referencing_attribute or "")
        for known in relationships
        if known.is_to_many_from(entity)
    }


def groups_of_process(process: Process) -> Mapping[str, RecordGroup]:
    """The records that a process makes, by parameter."""
    return {
        known.name: RecordGroup(
            known.name, known.targets[0], several=known.holds is Holds.RECORDS, required=known.required
        )
        for known in process.inputs
        if known.holds is not Holds.VALUE and len(known.targets) == 1
    }

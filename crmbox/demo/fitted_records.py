"""The demo's records, fitted to the metadata of an organisation, which may not allow all of their values.

A record is written without the values that its attributes do not take. It is left out where it cannot be
without them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound
from crmclient.platform import Create, Platform, Update
from crmclient.values import Guid, Value, Values

Write: TypeAlias = Create | Update


@dataclass(slots=True)
class Losses:
    """What the demo's records do without."""

    attributes: dict[tuple[str, str], str] = field(default_factory=dict)
    """The reasons for the attributes that no record can have, by entity and attribute."""
    values: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """The reason for each value that is left out, by entity and attribute."""
    records: dict[str, list[str]] = field(default_factory=dict)
    """The reason for each record that is left out, by entity."""
    left_out: set[tuple[str, Guid | None]] = field(default_factory=set)

    def add_attribute(self, entity: str, name: str, reason: str) -> None:
        self.attributes[entity, name] = reason

    def add_value(self, entity: str, name: str, reason: str) -> None:
        self.values.setdefault((entity, name), []).append(reason)

    def add_record(self, write: Write, reason: str) -> None:
        self.records.setdefault(write.entity, []).append(reason)
        self.left_out.add((write.entity, write.id))

    def without_attributes(self, entity: str, values: Values) -> dict[str, Value]:
        """Return the values of attributes that records can have."""
        return {name: value for name, value in values.items() if (entity, name) not in self.attributes}

    def leaves_out(self, entity: str, id: Guid) -> bool:
        """Whether the record is left out."""
        return (entity, id) in self.left_out

    def sentences(self) -> list[str]:
        """Return a sentence for each attribute and entity that lost something. It gives the first reason."""
        return [
            *(f"{entity}.{name}: {reason}" for (entity, name), reason in self.attributes.items()),
            *(
                f"{entity}.{name}: {len(reasons):,} records do without it. {reasons[0]}"
                for (entity, name), reasons in self.values.items()
            ),
            *(
                f"{entity}: {len(reasons):,} records are left out. {reasons[0]}"
                for entity, reasons in self.records.items()
            ),
        ]


def write_beside(platform: Platform, writes: Sequence[Write], losses: Losses) -> None:
    """Write the records in one batch or, where one of them is refused, each in a batch of its own.

    Values and records that the platform does not take are added to `losses`.

    Raises PlatformError when the platform fails.
    """
    fitting = [
        replace(write, values=losses.without_attributes(write.entity, write.values)) for write in writes
    ]
    try:
        platform.batch(fitting)
    except (InvalidRecord, DuplicateKey, RecordNotFound):
        for write in fitting:
            _write_alone(platform, write, losses)


def _write_alone(platform: Platform, write: Write, losses: Losses) -> None:
    """Write one record, without the values that the platform refuses, which are added to `losses`.

    It is tried again without the refused values until it is written, or until a value that it needs is
    refused. The record is lost then.
    """
    # A record that was not created cannot be updated.
    if isinstance(write, Update) and losses.leaves_out(write.entity, write.id):
        return
    lost: dict[str, str] = {}
    while True:
        try:
            platform.batch([replace(write, values=_without_names(write.values, lost))])
        except InvalidRecord as error:
            refused = {problem.attribute: problem.message for problem in error.problems}
            # The platform misses a value that the demo does not have, or that it has refused before.
            if missing := sorted(refused.keys() - _without_names(write.values, lost).keys()):
                name = missing[0]
                losses.add_record(write, f"{name}: {lost.get(name, refused[name])}")
                return
            lost |= refused
        except (DuplicateKey, RecordNotFound) as error:
            losses.add_record(write, str(error))
            return
        else:
            for name, reason in lost.items():
                losses.add_value(write.entity, name, reason)
            return


def _without_names(values: Values, names: Container[str]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name not in names}

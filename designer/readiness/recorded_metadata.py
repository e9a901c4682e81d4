"""The platform's metadata as a file, to judge a configuration by where no platform can be asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from crmclient.conventions import Conventions
from crmclient.errors import PlatformError
from crmclient.metadata import Attribute, Entity, OptionSet, Process, Relationship, SecurityRole
from designer.library_messages import problems_of, reason_of
from designer.readiness.metadata import Metadata, MetadataUnavailable
from designer.sentences import at_place, listed


@dataclass(frozen=True)
class MetadataRecord:
    """The metadata of a platform.

    `entities` are all that it has; `attributes`, `relationships` and `choices` (option sets by entity and
    attribute) are of some of them.
    """

    format: Literal[1]
    conventions: Conventions
    entities: Mapping[str, Entity]
    attributes: Mapping[str, Mapping[str, Attribute]]
    relationships: Mapping[str, tuple[Relationship, ...]]
    choices: Mapping[str, Mapping[str, OptionSet]]
    option_sets: Mapping[str, OptionSet]
    processes: Mapping[str, Process]
    security_roles: tuple[SecurityRole, ...] = ()
    # Empty in files of earlier releases.
    languages: tuple[int, ...] = ()

    def to_bytes(self) -> bytes:
        """Return indented JSON in UTF-8. The same metadata gives the same bytes."""
        data = _RECORD.dump_python(self, exclude_defaults=True)
        text = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True, default=_plain)
        return (text + "\n").encode()


_RECORD = TypeAdapter(MetadataRecord)


def _plain(value: Any) -> Any:
    """Return a form that JSON has for a value that it does not know: a sorted list for a set, else a text."""
    return sorted(value) if isinstance(value, frozenset) else str(value)


class UnreadableMetadata(Exception):
    """A file that holds no metadata."""


def record(metadata: Metadata, entities: Iterable[str]) -> MetadataRecord:
    """Return the present metadata of the platform, in full for those of `entities` that exist.

    Raises MetadataUnavailable.
    """
    present = metadata.entities()
    recorded_names = sorted(set(entities) & set(present))
    attributes = {name: metadata.attributes(name) for name in recorded_names}
    return MetadataRecord(
        format=1,
        conventions=metadata.conventions,
        entities=present,
        attributes=attributes,
        relationships={name: tuple(metadata.relationships(name)) for name in recorded_names},
        choices={name: dict(_choices(metadata, name, attributes[name])) for name in recorded_names},
        option_sets=metadata.option_sets(),
        processes=metadata.processes(),
        security_roles=tuple(metadata.security_roles()),
        languages=tuple(metadata.languages()),
    )


def read_record(raw: bytes) -> MetadataRecord:
    """Read recorded metadata. Raises UnreadableMetadata with the first 20 reasons."""
    try:
        return _RECORD.validate_json(raw)
    except ValidationError as error:
        # A file of another kind has thousands of problems. The first ones are enough.
        reasons = [
            at_place(".".join(map(str, problem["loc"])) or "metadata", reason_of(problem))
            for problem in problems_of(error)[:20]
        ]
        raise UnreadableMetadata(listed(reasons, "\n")) from error


def _choices(
    metadata: Metadata, entity: str, attributes: Mapping[str, Attribute]
) -> Iterable[tuple[str, OptionSet]]:
    """Yield the choice attributes of `entity` that have an option set, by name, each with that option set."""
    for name, attribute in attributes.items():
        if attribute.type.has_options and (option_set := metadata.option_set(name, entity)) is not None:
            yield name, option_set


class RecordedMetadata(Metadata):
    """Metadata from a record. It never asks a platform.

    Raises MetadataUnavailable for an entity that exists, but whose attributes are not recorded. `lacking` are
    such entities that somebody has asked for.
    """

    def __init__(self, record: MetadataRecord) -> None:
        self._record = record
        self.lacking: set[str] = set()
        self.conventions = record.conventions

    def entities(self) -> Mapping[str, Entity]:
        return self._record.entities

    def attributes(self, entity: str) -> Mapping[str, Attribute]:
        self._require(entity)
        return self._record.attributes.get(entity, {})

    def option_set(self, name: str, entity: str | None = None) -> OptionSet | None:
        """Return a global option set, or that of the choice attribute `name` of `entity`; None for an unknown
        one.
        """
        if entity is None:
            return self._record.option_sets.get(name)
        self._require(entity)
        return self._record.choices.get(entity, {}).get(name)

    def option_sets(self) -> Mapping[str, OptionSet]:
        return self._record.option_sets

    def processes(self) -> Mapping[str, Process]:
        return self._record.processes

    def process(self, name: str) -> Process | None:
        return self._record.processes.get(name)

    def relationships(self, entity: str) -> tuple[Relationship, ...]:
        self._require(entity)
        return self._record.relationships.get(entity, ())

    def languages(self) -> tuple[int, ...]:
        return self._record.languages

    def security_roles(self) -> tuple[SecurityRole, ...]:
        return self._record.security_roles

    def _require(self, entity: str) -> None:
        """Raise MetadataUnavailable for an entity that exists without being recorded, and remember it in
        `lacking`.
        """
        if entity in self._record.entities and entity not in self._record.attributes:
            self.lacking.add(entity)
            raise MetadataUnavailable(PlatformError(f"{entity} is not recorded"))

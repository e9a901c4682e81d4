"""The plan of an import, as lines for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crmbox.importing.source_entity import Note, Verdict


@dataclass(frozen=True, slots=True)
class Made:
    """A new entity, or the new attributes of one that exists."""

    entity: str
    entity_set: str
    attributes: tuple[str, ...]


@dataclass(slots=True)
class Plan:
    """What an import would do. Nothing is done while there is any reason in `refused`."""

    created: list[Made] = field(default_factory=list)
    extended: list[Made] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    """The changes of existing entities, by the name of the entity."""
    many_to_many: list[str] = field(default_factory=list)
    option_sets: dict[str, list[str]] = field(default_factory=dict)
    """The global option sets, each with what changes of one that exists."""
    notes: list[Note] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def changed_entities(self) -> set[str]:
        return {*self.changed, *(made.entity for made in self.extended)}

    def change(self, entity: str, what: str) -> None:
        """Add a change of an entity that exists, in words."""
        self.changed.setdefault(entity, []).append(what)

    def summary(self) -> str:
        """Return what the import makes and changes, in words that follow “Made” or “would make”."""
        attributes = sum(len(made.attributes) for made in (*self.created, *self.extended))
        return (
            f"{len(self.created):,} entities, changed {len(self.changed_entities):,}: "
            f"{attributes:,} attributes, {len(self.many_to_many):,} many-to-many relationships, "
            f"{len(self.option_sets):,} option sets."
        )

    def counts(self) -> Counter[Verdict]:
        return Counter(note.verdict for note in self.notes)

    def lines(self) -> Iterator[str]:
        """Yield a line for each part of the plan."""
        for made in self.created:
            yield f"Make: {made.entity} ({made.entity_set}), {len(made.attributes):,} attributes."
        for made in self.extended:
            yield f"Add to {made.entity}: {', '.join(made.attributes)}."
        for entity, changes in sorted(self.changed.items()):
            for what in changes:
                yield f"Change: {entity}: {what}."
        for name in self.many_to_many:
            yield f"Relate: {name}."
        for name, changes in self.option_sets.items():
            yield f"Option set: {name}."
            for what in changes:
                yield f"Change: {name}: {what}."
        yield from (note_line(note) for note in self.notes)
        for problem in self.refused:
            yield f"Refused: {problem}"

    def json(self) -> dict[str, Any]:
        """Return the plan as JSON. Each verdict has a list of its notes, by the verdict's name.

        `changed` also lists the changes of entities and option sets that exist.
        """
        by_verdict: dict[str, list[dict[str, str | None]]] = {verdict.name.lower(): [] for verdict in Verdict}
        for note in self.notes:
            about: dict[str, str | None] = {"name": note.subject, "reason": note.reason}
            if note.option is not None:
                about["option"] = note.option
            by_verdict[note.verdict.name.lower()].append(about)
        # The notes tell what is made otherwise than the source says.
        changed = [
            *by_verdict.pop("changed"),
            *(
                {"name": name, "reason": what}
                for changes in (self.changed, self.option_sets)
                for name, whats in changes.items()
                for what in whats
            ),
        ]
        return {
            "created": [_made_json(made) for made in self.created],
            "extended": [_made_json(made) for made in self.extended],
            "changed": changed,
            "many_to_many": self.many_to_many,
            "option_sets": list(self.option_sets),
            **by_verdict,
            "refused": self.refused,
        }


def note_line(note: Note) -> str:
    """Return a note as a line for people, with the option that would bring what it is about."""
    wish = "" if note.option is None else f" To have it: {note.option}."
    reason = note.reason[:1].lower() + note.reason[1:]
    return f"{note.verdict.value.capitalize()}: {note.subject}: {reason}{wish}"


def _made_json(made: Made) -> dict[str, Any]:
    return {"name": made.entity, "entity_set": made.entity_set, "attributes": list(made.attributes)}

"""Reads the entities that files describe, one after the other.

Most of them are only counted, few are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from pathlib import Path
from typing import Final

from crmbox.importing import csdl_file, definitions, json_file
from crmbox.importing.source_entity import (
    CannotRead,
    Described,
    Intersect,
    ManyToMany,
    Note,
    SourceEntity,
    Verdict,
    left_out,
)
from crmclient.metadata import OptionSet

Item = Described | Intersect | OptionSet | Note
Source = Callable[[set[str] | None], Iterable[Item]]
"""Reads its items from the beginning each time it is called: at least the named entities (all for None).

Raises CannotRead, OSError, PlatformError.
"""

_COMPRESSED: Final = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"7z\xbc\xaf\x27\x1c")
"""The first bytes of ZIP, gzip, bzip2, xz and 7-Zip."""

_WEB_PAGE: Final = (b"<!doctype html", b"<html")

EVERY = 100
"""Entities after which progress is shown."""


@dataclass(slots=True)
class Contents:
    """The contents of a source.

    `entities` are the requested entities; of others there are only names and a count.
    """

    names: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    """Those of `names` that are made only when they are named."""
    attributes: int = 0
    option_sets: dict[str, OptionSet] = field(default_factory=dict)
    entities: dict[str, SourceEntity] = field(default_factory=dict)
    intersects: dict[str, Intersect] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    """Notes about parts of the source that are no entities with records."""


def read(
    source: Source, named: set[str], levels: int, show: Callable[[str, int], None], *, all_entities: bool
) -> Contents:
    """Read the named entities, and the entities their lookups point at, over `levels` steps.

    `all_entities`: read the others, too, except those that are made only when they are named. `show` is
    called with what is read, and how many so far.
    """
    contents = _read(source, named, show, all_entities=all_entities)
    requested = set(named)
    for _ in range(0 if all_entities else levels):
        targets = {
            target
            for source_entity in contents.entities.values()
            for attribute in source_entity.attributes
            for target in attribute.targets
        }
        new_targets = (targets & contents.names) - requested
        if not new_targets:
            break
        requested |= new_targets
        contents.entities.update(_read(source, new_targets, show, all_entities=False).entities)
    for name, source_entity in contents.entities.items():
        many_to_many = tuple(
            _with_intersect_names(item, contents.intersects) for item in source_entity.many_to_many
        )
        contents.entities[name] = changed(source_entity, many_to_many=many_to_many)
    return contents


def _with_intersect_names(many_to_many: ManyToMany, intersects: Mapping[str, Intersect]) -> ManyToMany:
    """Return a many-to-many relationship with the names of its intersect entity, where the source has them.

    The relationship itself tells them in `$metadata` alone.
    """
    intersect = intersects.get(many_to_many.relationship.intersect or "")
    if intersect is None:
        return many_to_many
    return changed(
        many_to_many,
        entity_set=many_to_many.entity_set or intersect.entity_set,
        primary_id=many_to_many.primary_id or intersect.primary_id,
    )


def files(paths: Iterable[Path]) -> Source:
    """Return the source that reads files. It gives all their entities, whichever are wanted."""
    all_paths = list(paths)
    return lambda _: _items_of_files(all_paths)


def item_of_json(item: dict[str, object]) -> Item | None:
    """Return the option set or entity that a JSON object describes; None for other objects.

    Raises CannotRead.
    """
    if definitions.is_option_set(item):
        return definitions.option_set(item)
    return None if "OptionSetType" in item else definitions.entity(item)


def _read(
    source: Source, named: set[str], show: Callable[[str, int], None], *, all_entities: bool
) -> Contents:
    """Read a source once. Entities that are not wanted are counted, and only their names are kept."""
    contents = Contents()
    for item in source(None if all_entities else named):
        if isinstance(item, OptionSet):
            contents.option_sets[item.name] = item
        elif isinstance(item, Note):
            contents.notes.append(item)
        elif isinstance(item, Intersect):
            contents.intersects[item.name] = item
        else:
            contents.names.add(item.name)
            contents.attributes += item.attributes
            if item.hidden is not None:
                contents.hidden.add(item.name)
            if item.name in named or (all_entities and item.hidden is None):
                _read_into(contents, item)
            elif all_entities and item.hidden is not None:
                contents.notes.append(left_out(item.name, item.hidden, f"--entities {item.name}"))
            if len(contents.names) % EVERY == 0:
                show("Entities read", len(contents.names))
    return contents


def _read_into(contents: Contents, item: Described) -> None:
    """Read an entity that is wanted, and add it to the contents."""
    source_entity = item.read()
    if item.name in contents.entities:
        reason = "The sources describe it more than once. The last description counts."
        contents.notes.append(Note(Verdict.CHANGED, item.name, reason))
    contents.entities[item.name] = source_entity


def _items_of_files(paths: Iterable[Path]) -> Iterator[Item]:
    """Yield the items of XML (CSDL) and JSON files. Raises CannotRead with the path."""
    for path in paths:
        try:
            yield from csdl_file.entities(path) if _is_xml(path) else _items_of_json_file(path)
        except CannotRead as error:
            raise CannotRead(f"{path}: {error}") from None
        except OSError as error:
            raise CannotRead(f"{path} cannot be read: {error.strerror}.") from error


def _is_xml(path: Path) -> bool:
    """Whether a file is XML: by its first character, behind a byte order mark (UTF-8, UTF-16) and spaces.

    Raises CannotRead for what people fetch or keep in the place of metadata: a web page, an archive.
    """
    with path.open("rb") as file:
        beginning = file.read(1024).lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")
    if beginning.startswith(_COMPRESSED):
        raise CannotRead("The file is compressed. Unpack it, and name the file that is in it.")
    if beginning.replace(b"\x00", b"").lower().startswith(_WEB_PAGE):
        raise CannotRead(
            "The file is a web page, such as the one for signing in, and no metadata. Fetch the metadata as "
            "somebody who is signed in."
        )
    return beginning.startswith(b"<")


def _items_of_json_file(path: Path) -> Iterator[Item]:
    for item in json_file.objects(path):
        content = item_of_json(item)
        if content is not None:
            yield content

"""What files describe, one entity after the other: most are only counted, since few are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crmbox.importing import csdl_file, definitions, json_file
from crmbox.importing.found import CannotRead, Described, Found, Note, Verdict, left_out
from crmclient.metadata import OptionSet

Item = Described | OptionSet | Note
Source = Callable[[set[str] | None], Iterable[Item]]
"""Reads from the beginning each time it is called, at least what is wanted of it (all for None).

Raises CannotRead, OSError, PlatformError.
"""

EVERY = 100


@dataclass(slots=True)
class Contents:
    """What a source holds. `found` is what was asked for; of the rest only names and a count are kept."""

    names: set[str] = field(default_factory=set)
    attributes: int = 0
    option_sets: dict[str, OptionSet] = field(default_factory=dict)
    found: dict[str, Found] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    """About what the source has that is no entity with records."""


def read(source: Source, wanted: set[str] | None, levels: int, show: Callable[[str, int], None]) -> Contents:
    """What is wanted (all for None), and what its lookups point at: `levels` times."""
    contents = _read(source, wanted, show)
    asked = set(wanted or ())
    for _ in range(levels if wanted is not None else 0):
        pointed = {
            target
            for found in contents.found.values()
            for attribute in found.attributes
            for target in attribute.targets
        }
        new = (pointed & contents.names) - asked
        if not new:
            break
        asked |= new
        contents.found.update(_read(source, new, show).found)
    return contents


def files(paths: Iterable[Path]) -> Source:
    listed = list(paths)
    return lambda _: _of_files(listed)


def of_json(item: dict[str, object]) -> Item | None:
    """Raises CannotRead."""
    if definitions.is_option_set(item):
        return definitions.option_set(item)
    return None if "OptionSetType" in item else definitions.entity(item)


def _read(source: Source, wanted: set[str] | None, show: Callable[[str, int], None]) -> Contents:
    contents = Contents()
    for item in source(wanted):
        if isinstance(item, OptionSet):
            contents.option_sets[item.name] = item
        elif isinstance(item, Note):
            contents.notes.append(item)
        else:
            contents.names.add(item.name)
            contents.attributes += item.attributes
            if wanted is None and item.hidden is not None:
                contents.notes.append(left_out(item.name, item.hidden, f"--entities {item.name}"))
            elif wanted is None or item.name in wanted:
                _keep(contents, item)
            if len(contents.names) % EVERY == 0:
                show("Entities read", len(contents.names))
    return contents


def _keep(contents: Contents, item: Described) -> None:
    found = item.read()
    if item.name in contents.found:
        reason = "The sources describe it more than once. The last description counts."
        contents.notes.append(Note(Verdict.CHANGED, item.name, reason))
    contents.found[item.name] = found


def _of_files(paths: Iterable[Path]) -> Iterator[Item]:
    for path in paths:
        with path.open("rb") as file:
            is_xml = file.read(64).lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n").startswith(b"<")
        try:
            yield from csdl_file.entities(path) if is_xml else _of_json_file(path)
        except CannotRead as error:
            raise CannotRead(f"{path}: {error}") from None


def _of_json_file(path: Path) -> Iterator[Item]:
    for item in json_file.objects(path):
        found = of_json(item)
        if found is not None:
            yield found

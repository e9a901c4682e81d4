"""Reading a folder that anyone may have written: every problem names its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from designer.definitions import ConfigurationDocument
from designer.documents.document_reader import named_document_from, parse, place_in_document
from designer.documents.environment_values import Names, ValueSources
from designer.documents.folder_layout import EVERYTHING, USER_PROPERTIES, ItemFile, item_files, manifest_of
from designer.documents.keys import ENDPOINTS, Location
from designer.documents.problems import DocumentError, PartlyRead
from designer.documents.yaml_text import from_yaml
from designer.sentences import Sentence, at_place, listed


@dataclass(frozen=True, slots=True)
class Folder:
    """The document in a folder.

    `removes` are the groups whose missing items are removed; None: all groups.
    """

    document: ConfigurationDocument
    names: Names
    removes: frozenset[str] | None


def read_folder(folder: Path, sources: ValueSources) -> Folder:
    """Read the document in the folder. `sources` has the values that the folder names.

    Raises DocumentError with the file and place of every problem, and OSError.
    """
    manifest = manifest_of(folder)
    if manifest is None:
        raise DocumentError(
            [
                Sentence(
                    "%(folder)s has no portico.yaml, so it is not a configuration. Write one with "
                    "exportconfig --folder.",
                    folder=str(folder),
                )
            ]
        )
    files, problems = item_files(folder)
    items: dict[str, list[Any]] = {}
    places: dict[str, list[PurePosixPath]] = {}
    lacks_needed_items = False
    for file in files:
        file_items = _items_in_file(folder, file, problems)
        # Nothing refers to an endpoint: without it, the others can be judged.
        lacks_needed_items |= file_items is None and file.field != ENDPOINTS
        for item in file_items or ():
            items.setdefault(file.field, []).append(item)
            places.setdefault(file.field, []).append(file.path)
    content = _object_in_file(manifest, PurePosixPath(manifest.name), problems)
    if content is None or lacks_needed_items:
        raise DocumentError(problems)
    removes = _removed_groups(manifest.name, content, problems)

    def place(location: Location) -> str:
        """Return the file of a location in the document, and the place within that file."""
        match location:
            case [str(field), int(at), *rest] if at < len(places.get(field, ())):
                within = place_in_document(rest)
                return f"{places[field][at]}: {within}" if within else str(places[field][at])
            case _:
                return listed((manifest.name, place_in_document(location)), ": ")

    names = Names(sources, place)
    try:
        stated_format = {"format": content["format"]} if "format" in content else {}
        document = named_document_from({**stated_format, **items}, names, place)
    except PartlyRead as error:
        raise error.preceded_by(problems) from error
    except DocumentError as error:
        raise DocumentError([*problems, *error.problems]) from error
    if problems:
        raise PartlyRead(problems, document)
    return Folder(document, names, removes)


def _items_in_file(folder: Path, file: ItemFile, problems: list[str]) -> list[Any] | None:
    """Return the items of a file; None where they cannot be read. Add what is wrong with the file to
    `problems`.
    """
    if file.field == USER_PROPERTIES:
        content = _content_of_file(folder / file.path, file.path, problems)
        if content is not None and not isinstance(content, list):
            problems.append(Sentence("%(file)s: write a list of user properties.", file=str(file.path)))
        return content if isinstance(content, list) else None
    item = _object_in_file(folder / file.path, file.path, problems)
    if item is None:
        return None
    stated = item.get("segment" if file.field == "modules" else "module", "")
    if file.module is not None and isinstance(stated, str) and stated != file.module:
        problems.append(
            Sentence(
                "%(file)s: its module is “%(stated)s”, but it is in the folder of “%(module)s”. Move the "
                "file, or correct its module.",
                file=str(file.path),
                stated=stated,
                module=file.module,
            )
        )
    return [item]


def _object_in_file(file: Path, path: PurePosixPath, problems: list[str]) -> dict[str, Any] | None:
    """Return the JSON object that a file holds; None, with a problem added, for anything else.

    `path` is the path of the file in the folder, for messages.
    """
    content = _content_of_file(file, path, problems)
    if content is not None and not isinstance(content, dict):
        problems.append(Sentence("%(file)s: write names and their values.", file=str(path)))
    return content if isinstance(content, dict) else None


def _content_of_file(file: Path, path: PurePosixPath, problems: list[str]) -> Any:
    """Return the content of the file; None, with a problem added, when it cannot be read or is empty."""
    raw = file.read_bytes()
    try:
        content = parse(raw) if path.suffix == ".json" else from_yaml(raw)
    except DocumentError as error:
        problems += [at_place(str(path), problem) for problem in error.problems]
        return None
    if content is None:
        problems.append(Sentence("%(file)s: the file is empty. Remove or fill it.", file=str(path)))
    return content


def _removed_groups(name: str, content: Mapping[str, Any], problems: list[str]) -> frozenset[str] | None:
    """Return the groups that the manifest lets an import remove; None: all groups. `name` is the manifest's
    file name.
    """
    problems += [
        Sentence(
            "%(file)s: “%(unknown)s” means nothing here. The file holds format and removes.",
            file=name,
            unknown=unknown,
        )
        for unknown in sorted(set(content) - {"format", "removes"})
    ]
    removes = content.get("removes", [])
    if removes == EVERYTHING:
        return None
    if isinstance(removes, list) and all(isinstance(group, str) for group in removes):
        return frozenset(removes)
    problems.append(
        Sentence(
            "%(file)s: removes is “everything”, or a list of modules, “context” and “optionsets”.", file=name
        )
    )
    return frozenset()

"""Writing a document as a folder: the same document gives the same files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from designer.documents.folder_layout import (
    EVERYTHING,
    HOMES,
    MANIFEST,
    USER_PROPERTIES,
    item_files,
    manifest_of,
)
from designer.documents.older_formats import PRESENT
from designer.documents.problems import DocumentError
from designer.documents.schema import document_schema
from designer.documents.yaml_text import to_yaml
from designer.sentences import Sentence

Format: TypeAlias = Literal["yaml", "json"]

_SCHEMAS = "schemas"
# The schema of the whole document, which the schemas of files refer to.
_ALL = "portico.json"
# The schema of the files of each list: its name among the definitions of the whole document's schema.
_ITEM_SCHEMAS: Mapping[str, str] = {
    "roles": "RoleDefinition",
    "caller_types": "CallerTypeDefinition",
    USER_PROPERTIES: "UserPropertyDefinition",
    "issuers": "IssuerDefinition",
    "modules": "ModuleDefinition",
    "entities": "ExposedEntityDefinition",
    "endpoints": "EndpointDefinition",
}
_HEAD = """\
# The configuration of Portico, one file for each part of it.
# removes: what an import removes where this folder lacks it. Write `everything`, or a list of modules,
# `context` (roles, caller types, user properties, issuers) and `optionsets`.
"""
# File systems take 255 bytes for a name.
_LONGEST_NAME = 100


def write_folder(
    folder: Path, document: dict[str, Any], form: Format = "yaml", module: str | None = None
) -> None:
    """Make the folder hold `document`, the JSON of a whole configuration or, with `module`, of that module.

    Files of items that are gone are deleted; with `module`, only files of that module. The same document
    gives the same files. Raises DocumentError when the folder holds files of this layout but no manifest: no
    export has written them.
    """
    manifest = manifest_of(folder)
    present = [item_file.path for item_file in item_files(folder)[0]]
    if manifest is None and present:
        raise DocumentError(
            [
                Sentence(
                    "%(folder)s holds %(file)s, and no portico.yaml that says whose file it is. Name a "
                    "new folder.",
                    folder=str(folder),
                    file=str(present[0]),
                )
            ]
        )
    texts_by_path = dict(_files_of_items(document, form))
    for path in present:
        if path not in texts_by_path and (module is None or path.parts[:2] == ("modules", module)):
            (folder / path).unlink()
    # With `module`, the folder may hold other modules, of which its manifest tells.
    if manifest is None or module is None:
        removes = EVERYTHING if module is None else [module]
        text = _HEAD + to_yaml({"format": PRESENT, "removes": removes})
        texts_by_path[PurePosixPath(f"{MANIFEST}.yaml")] = text
        if manifest is not None and manifest.suffix != ".yaml":
            manifest.unlink()
    texts_by_path |= _schemas()
    for path, text in texts_by_path.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")


def _files_of_items(document: dict[str, Any], form: Format) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the path and the text of the file of each item; one file for all user properties."""
    taken: set[str] = set()
    for field, items in document.items():
        if field not in HOMES or not items:
            continue
        if field == USER_PROPERTIES:
            yield _free_path(HOMES[field][0], "", form, taken), _file_text(items, field, 0, form)
            continue
        for item in items:
            module = item["segment"] if field == "modules" else item.get("module", "")
            # Of a list with two homes, the first is for items without a module.
            home = HOMES[field][-1 if module else 0].replace("{module}", module)
            yield (
                _free_path(home, _file_name(field, item), form, taken),
                _file_text(item, field, home.count("/"), form),
            )


def _file_name(field: str, item: Mapping[str, Any]) -> str:
    """Return the name of the file of an item of the list `field`, before characters that no path takes are
    replaced.
    """
    if field == "endpoints":
        parts = (item.get(part) for part in ("exposure", "segment", "kind", "name"))
        return ".".join(part for part in parts if part)
    return str(item["segment"] if "segment" in item else item["name"])


def _free_path(home: str, name: str, form: Format, taken: set[str]) -> PurePosixPath:
    """Return a path that no other item has, even on file systems that ignore upper and lower case.

    `taken` are the paths of other items, in lower case and without the suffix; the path is added to them.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:_LONGEST_NAME] or "unnamed"
    number = 1
    while (path := home.replace("*", plain if number == 1 else f"{plain}~{number}")).lower() in taken:
        number += 1
    taken.add(path.lower())
    return PurePosixPath(f"{path}.{form}")


def _file_text(content: Any, field: str, depth: int, form: Format) -> str:
    """Return the text of a file that holds `content`. `depth`: how many folders deep the file is.

    YAML files begin with a comment that tells editors the schema.
    """
    if form == "json":
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    schema = f"{'../' * depth}{_SCHEMAS}/{_schema_name(field)}"
    return f"# yaml-language-server: $schema={schema}\n{to_yaml(content)}"


def _schema_name(field: str) -> str:
    """Return the name of the file with the schema of the list `field`."""
    return f"{field.replace('_', '-')}.json"


def _schemas() -> dict[PurePosixPath, str]:
    """Return the schema of the whole document, and one that refers to it for each kind of file, by path."""
    schemas: dict[str, Any] = {_ALL: document_schema()}
    for field, definition in _ITEM_SCHEMAS.items():
        reference = {"$ref": f"{_ALL}#/$defs/{definition}"}
        of_file = {"type": "array", "items": reference} if field == USER_PROPERTIES else reference
        schemas[_schema_name(field)] = {"$schema": "https://json-schema.org/draft/2020-12/schema", **of_file}
    return {
        PurePosixPath(_SCHEMAS, name): json.dumps(schema, ensure_ascii=False, indent=2) + "\n"
        for name, schema in schemas.items()
    }

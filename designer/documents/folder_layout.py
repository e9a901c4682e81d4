"""A document as a folder: a file for each role, entity and endpoint, so that a review shows what has changed.

    portico.yaml                              the format, and what an import removes
    roles/, caller-types/, issuers/           one file each
    user-properties.yaml                      all of them, in their order
    optionsets/                               one file for each global option set
    modules/sales/module.yaml
    modules/sales/entities/, endpoints/       one file each
    schemas/                                  JSON Schemas, for editors

Files are YAML or JSON. Their names are free; what stands in them, and in which folder, counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from designer.sentences import Sentence

# The name of the file that makes a folder a configuration, without the suffix.
MANIFEST: Final = "portico"
# What the manifest says under `removes`, so that an import removes whatever the folder lacks.
EVERYTHING: Final = "everything"
SUFFIXES: Final = (".yaml", ".yml", ".json")
USER_PROPERTIES: Final = "user_properties"

# Where the items of each list of the document are, without the suffix. `*` is any name, `{module}` that of
# the item's module. The order of user properties counts, so they are one file.
HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "roles": ("roles/*",),
    "caller_types": ("caller-types/*",),
    USER_PROPERTIES: ("user-properties",),
    "issuers": ("issuers/*",),
    "modules": ("modules/{module}/module",),
    "entities": ("modules/{module}/entities/*",),
    "endpoints": ("optionsets/*", "modules/{module}/endpoints/*"),
}


class ItemFile(NamedTuple):
    """A file of items: its path in the folder, the list of the document that has the items, and their
    module.
    """

    path: PurePosixPath
    field: str
    module: str | None


def manifest_of(folder: Path) -> Path | None:
    """Return the manifest of the folder; None when the folder is not a configuration."""
    candidates = (folder / f"{MANIFEST}{suffix}" for suffix in SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)


def item_files(folder: Path) -> tuple[list[ItemFile], list[str]]:
    """Return the files that hold items, sorted by path, and a sentence about each file that does not
    belong there.
    """
    files: list[ItemFile] = []
    problems: list[str] = []
    for file in _documents_in(folder):
        path = PurePosixPath(file.relative_to(folder).as_posix())
        home = _home_of(path.with_suffix(""))
        if home is not None:
            files.append(ItemFile(path, *home))
        else:
            all_homes = ", ".join(home for homes in HOMES.values() for home in homes)
            problems.append(
                Sentence(
                    "%(file)s: a configuration has no files there. It has these: %(known)s.",
                    file=str(path),
                    known=all_homes,
                )
            )
    return files, problems


def _documents_in(folder: Path) -> Iterator[Path]:
    """Yield the documents in the folders of the layout. Other folders of a repository are not read."""
    tops = {home.partition("/")[0] for homes in HOMES.values() for home in homes}
    for top in sorted(tops):
        paths = [*folder.glob(f"{top}.*"), *(folder / top).rglob("*")]
        yield from (path for path in sorted(paths) if path.suffix in SUFFIXES and path.is_file())


def _home_of(path: PurePosixPath) -> tuple[str, str | None] | None:
    """Return the list of the document that a path belongs to, and the module in it; None for other paths."""
    for field, homes in HOMES.items():
        for home in homes:
            if len(path.parts) == home.count("/") + 1 and path.match(home.replace("{module}", "*")):
                return field, path.parts[1] if "{module}" in home else None
    return None

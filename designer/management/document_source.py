"""The document or folder that a command reads."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.core.management.base import CommandParser

from designer.documents.values_file import read_values
from designer.history.recording import record_outside
from designer.imports.document_import import Source
from designer.management.values_option import add_values_option


def add_source_arguments(parser: CommandParser) -> None:
    """Add the arguments that `source_of` takes."""
    parser.add_argument(
        "file",
        help="The JSON document, the folder that exportconfig --folder wrote, or - for standard input.",
    )
    parser.add_argument(
        "--delete",
        action="append",
        default=[],
        metavar="MODULE",
        help="Remove what the document lacks in this module; “context” for roles and user properties, "
        "“optionsets” for global option sets. May be given several times.",
    )
    parser.add_argument(
        "--keep-later-changes",
        action="store_true",
        help="Leave each item as it is whose later changes the document would take back. Nothing of what the "
        "document says of it is imported. Default: the document counts, and what it takes back is told.",
    )
    add_values_option(parser)


def source_of(file: str, values: Path | None, delete: Sequence[str], *, keep_later_changes: bool) -> Source:
    """Read the document or folder that the arguments of a command name. Raises DocumentError and OSError."""
    source = _read_source(file, read_values(values) if values else {}, delete)
    if not keep_later_changes:
        return source
    # Changes made outside the studio count as later changes, so they have to be recorded.
    record_outside()
    # None keeps every item whose later changes the document would take back.
    return source._replace(keep=None)


def _read_source(file: str, named_values: Mapping[str, str], delete: Sequence[str]) -> Source:
    """Return the folder or document at `file`; - stands for standard input. Raises
    DocumentError and OSError.
    """
    if file != "-" and Path(file).is_dir():
        return Source.of_folder(Path(file), delete, named_values)
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return Source.of_document(raw, delete, named_values)

"""The document or folder that a command reads."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from django.core.management.base import CommandParser

from designer.documents.values_file import read_values
from designer.imports.document_import import Source
from designer.management.values_option import add_values_option


def add_source_arguments(parser: CommandParser) -> None:
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
    add_values_option(parser)


def source_of(file: str, values: Path | None, delete: Sequence[str]) -> Source:
    """Read the document or folder that the arguments of a command name. Raises DocumentError and OSError."""
    named_values = read_values(values) if values else {}
    if file != "-" and Path(file).is_dir():
        return Source.of_folder(Path(file), delete, named_values)
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return Source.of_document(raw, delete, named_values)

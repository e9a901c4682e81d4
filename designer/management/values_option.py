"""The option of commands that read a document: which values its names have."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser


def add_values_option(parser: CommandParser) -> None:
    """Add the option `--values`: the path of a file for `designer.documents.values_file`; None without it."""
    parser.add_argument(
        "--values",
        type=Path,
        metavar="FILE",
        help="YAML or JSON: values by the names that the document gives them. They go before variables "
        "called PORTICO_VALUE_….",
    )

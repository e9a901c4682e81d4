"""A file of values by the names that documents give them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from designer.documents.document_reader import parse
from designer.documents.problems import DocumentError
from designer.documents.yaml_text import from_yaml
from designer.sentences import Sentence


def read_values(file: Path) -> Mapping[str, str]:
    """Return the texts of a YAML or .json file by name. Raises DocumentError and OSError."""
    raw = file.read_bytes()
    content = parse(raw) if file.suffix == ".json" else from_yaml(raw)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise DocumentError([Sentence("%(file)s: write names and their values.", file=str(file))])
    wrong = [name for name, value in content.items() if not isinstance(value, (str, int, Decimal))]
    if wrong:
        raise DocumentError(
            [
                Sentence(
                    "%(file)s: the value of %(name)s is a text, a number, true or false.",
                    file=str(file),
                    name=name,
                )
                for name in wrong
            ]
        )
    return {name: _text(value) for name, value in content.items()}


def _text(value: str | int | Decimal) -> str:
    """Return a value of the file as text, with true and false as JSON writes them."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)

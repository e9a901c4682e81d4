"""YAML 1.2 as people review it: texts of several lines as they are, names in their order."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.representer import SafeRepresenter

from designer.documents.problems import DocumentError
from designer.sentences import Sentence

_TAG = "tag:yaml.org,2002:"
# Lines are as long as what stands in them: a folded one is another difference to read.
_WIDTH = 1_000_000
_ESCAPED = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class _Representer(SafeRepresenter):
    """Data as in JSON, without anchors: two rules that are alike are two rules."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write each value out, also where one object stands in two places."""
        return True

    def represent_str(self, data: str) -> ScalarNode:
        """Return the YAML of a text: in quotes where characters need it, as a block for several lines, else
        plain.
        """
        # What no reader takes as it is, or takes for a line feed, has to be escaped.
        style = '"' if _ESCAPED.search(data) else "|" if "\n" in data else None
        return self.represent_scalar(f"{_TAG}str", data, style=style)

    def represent_decimal(self, data: Decimal) -> ScalarNode:
        """Return the YAML of a decimal with all of its digits."""
        return self.represent_scalar(f"{_TAG}float", str(data))


class _Constructor(SafeConstructor):
    """Constructs only what JSON has, exactly: decimals stay decimals, and a date is a text."""

    def construct_text(self, node: ScalarNode) -> str:
        """Return a value as the text that stands there: a date stays as it is written."""
        text: str = self.construct_scalar(node)
        return text

    def construct_decimal(self, node: ScalarNode) -> Decimal:
        """Return the decimal of a number with a fraction. Raises ConstructorError for an infinite one and
        `.nan`.
        """
        text: str = self.construct_scalar(node)
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            raise ConstructorError(None, None, f"{text} is no number that JSON knows", node.start_mark)
        return number

    def construct_object_of_json(self, node: MappingNode) -> Iterator[dict[str, Any]]:
        """Yield the object of a mapping, before and after it is filled. Raises ConstructorError for a name
        that is no text.
        """
        for name, _ in node.value:
            if name.tag != f"{_TAG}str":
                problem = "a name that is no text; write it in quotes"
                raise ConstructorError(None, None, problem, name.start_mark)
        yield from self.construct_yaml_map(node)

    def refuse(self, node: Node) -> None:
        """Raise ConstructorError for a value that JSON does not have."""
        problem = f"{str(node.tag).removeprefix(_TAG)} is nothing that JSON knows; write it as text in quotes"
        raise ConstructorError(None, None, problem, node.start_mark)


_Representer.add_representer(str, _Representer.represent_str)
_Representer.add_representer(Decimal, _Representer.represent_decimal)
_Constructor.add_constructor(f"{_TAG}float", _Constructor.construct_decimal)
_Constructor.add_constructor(f"{_TAG}timestamp", _Constructor.construct_text)
_Constructor.add_constructor(f"{_TAG}map", _Constructor.construct_object_of_json)
for unknown in ("binary", "set", "omap", "pairs"):
    _Constructor.add_constructor(f"{_TAG}{unknown}", _Constructor.refuse)
_Constructor.add_constructor(None, _Constructor.refuse)


def to_yaml(value: Any) -> str:
    """Return `value`, which holds only what JSON can hold, as YAML that ends with a newline."""
    text = io.StringIO()
    _yaml().dump(value, text)
    return text.getvalue()


def from_yaml(raw: bytes) -> Any:
    """Return the content of a YAML text as JSON would have it, with decimals for numbers with a fraction.

    Raises DocumentError with line and column for what is no YAML 1.2 in UTF-8, holds several documents, or
    names a key twice.
    """
    try:
        return _yaml().load(raw.decode())
    except UnicodeDecodeError as error:
        raise DocumentError([Sentence("This is not UTF-8 text: see byte %(at)s.", at=error.start)]) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark is None:
            raise DocumentError([_unreadable(error.problem)]) from error
        raise DocumentError(
            [
                Sentence(
                    "This YAML cannot be read: %(reason)s at line %(line)s column %(column)s.",
                    reason=error.problem,
                    line=mark.line + 1,
                    column=mark.column + 1,
                )
            ]
        ) from error
    except (YAMLError, RecursionError, ValueError, LookupError) as error:
        raise DocumentError([_unreadable(str(error))]) from error


def _unreadable(reason: str) -> Sentence:
    """Return the sentence about a text that is no YAML. `reason` is the message of the reader."""
    return Sentence("This YAML cannot be read: %(reason)s.", reason=reason)


def _yaml() -> YAML:
    """Return a new reader and writer of YAML for one text, with the types of JSON and no folded lines."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.Constructor = _Constructor
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = _WIDTH
    return yaml

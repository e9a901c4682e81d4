"""Reads one element. An attribute that nobody reads is a problem in the end."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from crmclient.query.fetchxml import document
from crmclient.query.problems import Problem
from crmclient.sentences import Sentence

_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
_WHOLE: Final = re.compile("[0-9]{1,9}").fullmatch
_NAME: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*").fullmatch


class ElementReader:
    """One element, its attributes and children, and the problems of the whole document.

    `construct` names the element in messages.
    """

    def __init__(self, element: document.Element, construct: str, problems: list[Problem]) -> None:
        self.element = element
        self.construct = construct
        self.problems = problems
        self._attributes = {str(name): str(value) for name, value in element.attrib.items()}

    def add_problem(self, message: str) -> None:
        """Note a problem of this element."""
        self.problems.append(Problem(self.construct, message, document.line_of(self.element)))

    def ignore(self, *names: str) -> None:
        """Leave out attributes that do not change the rows."""
        for name in names:
            self._attributes.pop(name, None)

    def text(self, name: str) -> str | None:
        """Return the XML attribute `name`, which counts as read then; None without it."""
        return self._attributes.pop(name, None)

    def name(self, attribute: str = "name") -> str | None:
        """Return a logical name or an alias; None when the attribute is missing or empty. A wrong name is a
        problem.
        """
        text = self.text(attribute)
        if text and not _NAME(text):
            self.add_problem(
                Sentence(
                    "%(attribute)s %(text)s is not a name; use letters, digits and underscores",
                    attribute=attribute,
                    text=repr(text),
                )
            )
        return text or None

    def required_name(self, attribute: str = "name") -> str:
        """Return a required name. A missing name is a problem, and an empty text is returned for it."""
        name = self.name(attribute)
        if name is None:
            self.add_problem(Sentence("the attribute %(name)s is missing", name=attribute))
        return name or ""

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a boolean; `default` when it is missing or wrong. A wrong one is a problem."""
        text = self.text(name)
        if text is None:
            return default
        value = _BOOLEANS.get(text.strip().lower())
        if value is None:
            self.add_problem(
                Sentence("%(name)s %(text)s is neither true nor false", name=name, text=repr(text))
            )
        return default if value is None else value

    def whole(self, name: str) -> int | None:
        """Return a whole number of at least 1; None when it is missing or wrong, which is a problem."""
        text = self.text(name)
        if text is None:
            return None
        if not _WHOLE(text.strip()) or not int(text):
            self.add_problem(
                Sentence("%(name)s %(text)s is not a whole number of at least 1", name=name, text=repr(text))
            )
            return None
        return int(text)

    def refuse(self, name: str, reason: str) -> None:
        """Note a problem if the element has an attribute that is not supported."""
        if self.text(name) is not None:
            self.add_problem(
                Sentence("the attribute %(name)s is not supported: %(reason)s", name=name, reason=reason)
            )

    def children(self, expected: Collection[str]) -> Iterator[document.Element]:
        """Yield the children whose names are `expected`. Other children, and text between them, are
        problems, which are noted while the result is iterated.
        """
        for text in (self.element.text, *(child.tail for child in self.element)):
            if text and text.strip():
                self.add_problem(
                    Sentence("the text %(text)s does not belong here", text=repr(text.strip()[:40]))
                )
        for child in self.element:
            if not isinstance(child.tag, str):
                self.add_problem(Sentence("entity references are not allowed"))
            elif child.tag in expected:
                yield child
            else:
                self.problems.append(
                    Problem(
                        self.construct,
                        Sentence("the element %(name)s is not known here", name=child.tag),
                        document.line_of(child),
                    )
                )

    def refuse_children(self) -> None:
        """Note a problem for each child, and for text inside the element."""
        for _ in self.children(()):
            pass

    def finish(self) -> None:
        """Note a problem for each XML attribute that nobody has read."""
        for name in self._attributes:
            self.add_problem(Sentence("the attribute %(name)s is not known here", name=name))

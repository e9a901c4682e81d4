"""Text as an XML tree, and nothing that a text could set off: no DTD, entities, network or huge trees."""

from __future__ import annotations

from typing import Final, cast

from lxml import etree

from crmclient.query.problems import Problem, QueryProblems
from crmclient.sentences import Sentence

LONGEST: Final = 200_000
"""In characters: several times what Dataverse's own designers write."""

DOCUMENT: Final = Sentence("document")

Element = etree._Element


def tree(text: str) -> Element:
    """Return the root of an XML text. Raises QueryProblems."""
    if len(text) > LONGEST:
        raise _unreadable(Sentence("it is longer than %(most)s characters", most=LONGEST))
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        # Nothing may stand before an XML declaration. Some editors put a byte order mark and spaces there.
        root = etree.fromstring(text.strip().removeprefix("\ufeff").strip().encode(), parser)
    except UnicodeEncodeError:
        raise _unreadable(Sentence("it has half of a character. Type that character again")) from None
    except etree.XMLSyntaxError as error:
        raise _unreadable(
            Sentence("it is not well-formed XML: %(reason)s", reason=error.msg), error.lineno
        ) from error
    information = root.getroottree().docinfo
    if information is not None and information.internalDTD is not None:
        raise _unreadable(Sentence("a DOCTYPE is not allowed"))
    return root


def line_of(element: Element) -> int | None:
    """Return the line of the text on which an element begins, counted from 1; None if that is not known."""
    return cast("int | None", element.sourceline)


def _unreadable(message: str, line: int | None = None) -> QueryProblems:
    """Return the error for a text that is not read at all, with the problem `message` alone."""
    return QueryProblems([Problem(DOCUMENT, message, line)])

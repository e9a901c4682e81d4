"""Text as the CRM compares it: without regard to case and accents."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").search


def fold(value: str) -> str:
    """Return the comparison form of a text: compatibility-decomposed, case-folded, without accents.

    The embedded platform stores it beside each text, so that filters, orders and unique keys run on plain
    binary order on every database: a change here needs a migration that writes every stored form again. Marks
    that make another letter rather than an accented one stay: the voicing marks of kana, the nukta and vowel
    signs of the Indic scripts, the vowel signs of Thai.
    """
    if value.isascii():
        return value.lower()
    folded = unicodedata.normalize("NFKD", value).casefold()
    # Folding may yield characters that can be decomposed once more.
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if not _is_accent(c))


def _is_accent(character: str) -> bool:
    """Whether a character is a mark that is left out, by its combining class in Unicode.

    Classes 10 to 36 are the points of Hebrew, Arabic and Syriac. Those from 200 on are marks above, below or
    beside a letter. The classes between are vowel signs of other scripts, and those below 10 the marks that
    make another letter.
    """
    combining_class = unicodedata.combining(character)
    return 10 <= combining_class <= 36 or combining_class >= 200


def is_storable(value: str) -> bool:
    """Whether every database takes the text: no NUL character, no half of a surrogate pair."""
    if "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def fits_xml(value: str) -> bool:
    """Whether XML can hold the text, and with it FetchXML: no control characters but tabs and line ends."""
    return _NOT_IN_XML(value) is None

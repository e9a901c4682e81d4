"""Text as the CRM compares it: without regard to case and accents."""

from __future__ import annotations

import unicodedata


def fold(value: str) -> str:
    """Return the comparison form of a text: compatibility-decomposed, case-folded, without accents.

    The embedded platform stores it beside each text, so that filters, orders and unique keys run on plain
    binary order on every database: a change here needs a migration that writes every stored form again. Marks
    that make another letter rather than an accented one stay: the voicing marks of kana, the nukta and vowel
    signs of the Indic scripts, the vowel signs of Thai.
    """
    if value.isascii():
        return value.lower()
    decomposed = unicodedata.normalize("NFKD", value).casefold()
    return "".join(c for c in unicodedata.normalize("NFKD", decomposed) if not _is_accent(c))


def _is_accent(character: str) -> bool:
    combining_class = unicodedata.combining(character)
    return 10 <= combining_class <= 36 or combining_class >= 200


def storable(value: str) -> bool:
    """Whether every database takes the text: no NUL character, no half of a surrogate pair."""
    if "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)

"""Names and properties of languages, by their LCID."""

from __future__ import annotations

import locale

from django.utils.translation import get_language_info


def tag(lcid: int) -> str:
    """Return the BCP 47 tag of a language, such as `de-DE`; empty where the LCID is not known."""
    return locale.windows_locale.get(lcid, "").replace("_", "-")


def language_name(lcid: int) -> str:
    """Return the name of a language in the reader's language, with the LCID.

    The LCID tells apart the variants of a language, whose names may be the same.
    """
    try:
        return f"{get_language_info(tag(lcid).lower())['name_translated']} ({lcid})"
    except KeyError:
        return f"LCID {lcid}"


def is_right_to_left(lcid: int) -> bool:
    """Whether the language is written from right to left; False where the LCID is not known."""
    try:
        return bool(get_language_info(tag(lcid).lower())["bidi"])
    except KeyError:
        return False

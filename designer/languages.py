"""What languages are called, by their LCID."""

from __future__ import annotations

import locale

from django.utils.translation import get_language_info


def tag(lcid: int) -> str:
    """The language as browsers know it (BCP 47), such as `de-DE`; empty where it is not known."""
    return locale.windows_locale.get(lcid, "").replace("_", "-")


def language_name(lcid: int) -> str:
    """The language in the reader's words, with the LCID: two countries may share the name of a language."""
    try:
        return f"{get_language_info(tag(lcid).lower())['name_translated']} ({lcid})"
    except KeyError:
        return f"LCID {lcid}"


def is_right_to_left(lcid: int) -> bool:
    try:
        return bool(get_language_info(tag(lcid).lower())["bidi"])
    except KeyError:
        return False

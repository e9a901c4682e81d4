"""Sentences that are kept in English and said in the language of who reads them.

Findings outlive the request that found them, and reports of `checkconfig` have to stay as they are: so a
sentence is an English text that remembers what it was made of.
"""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language_bidi, gettext, ngettext

from crmclient.sentences import Counted, Sentence, listed

__all__ = ["Counted", "Sentence", "at_place", "isolated", "listed", "said"]

# Unicode isolates: the text between them keeps its own direction.
_ISOLATED = "\N{FIRST STRONG ISOLATE}%s\N{POP DIRECTIONAL ISOLATE}"


def said(text: str | Promise) -> str:
    """Return a sentence in the language of the reader, and any other text as it is."""
    if not isinstance(text, Sentence):
        return str(text)
    template = (
        ngettext(text.template, text.plural, text.number)
        if isinstance(text, Counted)
        else gettext(text.template)
    )
    if not text.values:
        return template
    return template % {name: _within(value) for name, value in text.values.items()}


def at_place(place: str, text: str) -> Sentence:
    """Return a sentence after the name of the place that it is about: `place: text`."""
    return listed((place, text), ": ")


def isolated(text: str) -> str:
    """Return a name or code for its place in a sentence.

    In right-to-left languages it keeps its direction.
    """
    return _ISOLATED % text if text and get_language_bidi() else text


def _within(value: Any) -> Any:
    """Return a value for its place in a sentence."""
    if isinstance(value, Sentence):
        return said(value)
    return isolated(value) if isinstance(value, str) else value

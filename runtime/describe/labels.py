"""Texts of fragments, which hold every language, in the one that a reader asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crmclient.metadata import ENGLISH


@dataclass(frozen=True, slots=True)
class Language:
    """A label that is missing in `lcid` is in English, in the base language, or in any that it has."""

    lcid: int
    base: int

    def of(self, text: str | Mapping[str, str]) -> str:
        """A consultant's text has no languages."""
        if isinstance(text, str):
            return text
        for lcid in (self.lcid, ENGLISH, self.base):
            found = text.get(str(lcid))
            if found is not None:
                return found
        return next(iter(text.values()), "")

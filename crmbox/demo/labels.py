"""Labels of the demo's metadata: English always, German and Arabic nearly always, others where they help."""

from __future__ import annotations

from typing import Final

from crmclient.metadata import Label, Option, OptionSet

LANGUAGES: Final = {"en": 1033, "ar": 1025, "fr": 1036, "de": 1031, "es": 1034, "zh": 2052, "ja": 1041}
"""The demo's languages and their LCIDs; English is the base language."""


def label(en: str, de: str | None = None, ar: str | None = None, **others: str) -> Label:
    texts = {"en": en, "de": de, "ar": ar, **others}
    return Label({LANGUAGES[language]: text for language, text in texts.items() if text is not None})


def choices(
    entity: str, attribute: str, title: Label, *rows: tuple[int, str] | tuple[int, str, str, str]
) -> OptionSet:
    """Return the option set of an attribute, from rows of value and English, German and Arabic label."""
    options = tuple(Option(value, label(*texts)) for value, *texts in rows)
    return OptionSet(f"{entity}_{attribute}", title, options, entity=entity)

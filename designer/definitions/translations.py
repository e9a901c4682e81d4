"""Texts that API consumers read, in more than one language.

A language is an LCID. A text that is missing in the one asked for is that in English, or else the text that
stands beside the translations, which may be in any language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema, model_validator

from crmclient.metadata import ENGLISH
from designer.definition import Definition
from designer.sentences import Sentence

_LCID = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
# The longest text of one line, as of the rows' own columns; other texts have no bound.
LONGEST_LINE: Final = 200
LONGEST_MESSAGE: Final = 500


def _keys_as_text(value: Any) -> Any:
    """Return the translations with keys as text: YAML reads them as numbers, where JSON has texts."""
    if isinstance(value, Mapping):
        return {str(key) if type(key) is int else key: texts for key, texts in value.items()}
    return value


def in_one_order(translations: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the translations sorted by language and name, without empty texts, so that equal ones compare
    equal.

    Raises ValueError when a key is not an LCID.
    """
    for lcid in translations:
        if not _LCID.fullmatch(lcid):
            raise ValueError(
                Sentence(
                    "%(lcid)s is not a language. Write its LCID, such as 1031 for German", lcid=repr(lcid)
                )
            )
    texts_by_lcid = {
        lcid: {name: texts[name] for name in sorted(texts) if texts[name]}
        for lcid, texts in sorted(translations.items(), key=lambda entry: int(entry[0]))
    }
    return {lcid: texts for lcid, texts in texts_by_lcid.items() if texts}


# Texts by the LCID of their language, and by what they stand for.
Translations: TypeAlias = Annotated[
    dict[str, dict[str, str]],
    BeforeValidator(_keys_as_text),
    AfterValidator(in_one_order),
    WithJsonSchema(
        {
            "type": "object",
            "description": "Texts by the LCID of their language, such as 1031, and by their names.",
            "propertyNames": {"pattern": "^[1-9][0-9]{0,8}$"},
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
        }
    ),
]


class Translated(Definition):
    """A definition with texts in several languages, which its field `translations` holds.

    `longest` has the highest number of characters of each text, by the name of its field; None: any number.
    """

    longest: ClassVar[Mapping[str, int | None]] = {}

    if TYPE_CHECKING:
        translations: Translations

    def text(self, name: str, lcid: int) -> str:
        """Return the text `name` for a caller who asks for the language `lcid`."""
        for language in (lcid, ENGLISH):
            if translation := self.translations.get(str(language), {}).get(name):
                return translation
        untranslated: str = getattr(self, name)
        return untranslated

    def in_language(self, lcid: int) -> Self:
        """Return the definition with all of its texts in the language `lcid`, as `text` gives them."""
        if not self.translations:
            return self
        texts = {name: self.text(name, lcid) for name in self.longest}
        return self.model_copy(update={**texts, "translations": {}})

    def languages(self) -> frozenset[int]:
        """Return the languages, as LCIDs, that some text is translated to."""
        return frozenset(map(int, self.translations))

    @model_validator(mode="after")
    def _known_texts(self) -> Self:
        """Refuse translations of texts that the definition does not have."""
        for lcid, texts in self.translations.items():
            if unknown := sorted(texts.keys() - self.longest.keys()):
                raise ValueError(
                    Sentence(
                        "translations.%(lcid)s: there is no text %(name)s; one of %(known)s",
                        lcid=lcid,
                        name=repr(unknown[0]),
                        known=", ".join(self.longest),
                    )
                )
        return self

"""String and Text: characters, with lengths and patterns."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any, ClassVar

import re2
from django.utils.translation import gettext_noop as _

from crmclient.metadata import Attribute, AttributeType
from crmclient.query.designed import DateOperator, DesignedOperator
from crmclient.query.families import FAMILY, Family
from designer.sentences import Sentence
from designer.types.allowed import within
from designer.types.base import PATTERNS, InputType, InvalidInput, Limits, Reader

# Categories of invisible characters: spaces and line ends, control characters, and marks such as U+200B or
# U+FEFF, which only say how to join or to write the characters around them.
_INVISIBLE = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
# The error says why a pattern does not compile. RE2 would also write a line to standard error.
_QUIET = re2.Options()
_QUIET.log_errors = False
# Letters and symbols by category, but shown as nothing: fillers, the Braille blank, the grapheme joiner.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")


@dataclass(frozen=True, slots=True)
class TextType(InputType):
    """A text. A required one holds more than blanks."""

    name: str
    label: str
    attribute_types: frozenset[AttributeType]
    constraints: frozenset[str] = frozenset({"min_length", "max_length", "pattern", "allowed"})
    widget: str = "text"
    # The type of the attributes whose values are of this input type as they are.
    natural: AttributeType = AttributeType.STRING
    is_textual: ClassVar[bool] = True

    def is_natural_for(self, attribute: Attribute) -> bool:
        """Whether the attribute holds texts of this type as they are."""
        return attribute.type is self.natural

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        # A query string holds a line, also where the attribute holds several: String is better than Text.
        fits = 0 if self.natural is AttributeType.STRING else 1
        if operator in PATTERNS:
            # Patterns are texts, whatever the attribute holds.
            return fits
        if isinstance(operator, DateOperator) or FAMILY[attribute.type] is not Family.TEXT:
            return None
        return fits

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of texts within `limits`, which raises InvalidInput.

        Raises ValueError for a pattern that does not compile.
        """
        shortest, longest = limits.min_length or 0, limits.max_length
        matches = _matcher(limits.pattern)
        required = limits.required

        def read(raw: Any) -> str:
            if type(raw) is not str:
                raise InvalidInput("wrong_type", Sentence("Must be a string."))
            if required and is_blank(raw):
                raise InvalidInput("required", Sentence("Must not be blank."))
            if longest is not None and len(raw) > longest:
                raise InvalidInput("too_long", Sentence("At most %(longest)s characters.", longest=longest))
            if len(raw) < shortest:
                raise InvalidInput(
                    "too_short", Sentence("At least %(shortest)s characters.", shortest=shortest)
                )
            if matches is not None and not matches(raw):
                raise InvalidInput(
                    "pattern", Sentence("Must match the pattern %(pattern)s", pattern=limits.pattern)
                )
            return raw

        return within(limits, read)

    def schema(self, limits: Limits) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        if limits.max_length is not None:
            schema["maxLength"] = limits.max_length
        shortest = max(limits.min_length or 0, 1 if limits.required else 0)
        if shortest:
            schema["minLength"] = shortest
        if limits.pattern:
            # A reader matches the whole text, where JSON Schema would be content with a part of it.
            schema["pattern"] = f"^(?:{limits.pattern})$"
        if limits.allowed:
            schema["enum"] = list(limits.allowed)
        return schema


def _matcher(pattern: str) -> Any:
    """Return a linear-time matcher of the whole text (RE2); None when there is no pattern.

    Raises ValueError for a pattern that does not compile.
    """
    if not pattern:
        return None
    try:
        return re2.compile(pattern, _QUIET).fullmatch
    except re2.error as error:
        (reason,) = error.args
        why = reason.decode() if isinstance(reason, bytes) else reason
        raise ValueError(
            Sentence("the pattern %(pattern)s is not one: %(reason)s", pattern=repr(pattern), reason=why)
        ) from error


_TEXTS = frozenset({AttributeType.STRING, AttributeType.MEMO})

STRING = TextType("String", _("Text, one line"), _TEXTS)
TEXT = TextType(
    "Text",
    _("Text, several lines"),
    frozenset({AttributeType.MEMO}),
    widget="textarea",
    natural=AttributeType.MEMO,
)


def is_blank(text: str) -> bool:
    """Whether `text` has no visible character."""
    return not any(map(_is_visible, text))


def _is_visible(character: str) -> bool:
    """Whether the character shows something."""
    # The two ranges are the variation selectors, which only change how the character before them looks.
    if character in _BLANK or "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return False
    return unicodedata.category(character) not in _INVISIBLE

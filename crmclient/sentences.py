"""Sentences that are English text, and can be said in other languages as well.

An error that is made of one hands it on by `str(error)`: whoever shows it may say it in the reader's
language, while logs, reports and answers have the English.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self


class Sentence(str):
    """`template` with `values` at its `%(name)s` places, in English; `template` is what translations go by.

    Values may be sentences themselves. A template without values is taken as it is.
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Self:
        sentence = super().__new__(cls, template % values if values else template)
        sentence.template, sentence.values = template, values
        return sentence

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what `__new__` takes, for copies of what holds a sentence."""
        return (self.template,), self.values

    def __str__(self) -> str:
        # Without this, `str(sentence)` would be a plain text, which has no template to translate.
        return self


class Counted(Sentence):
    """A sentence of which languages have several forms: by `number`, which templates name `%(number)s`."""

    plural: str
    number: int

    def __new__(cls, template: str, plural: str, number: int, **values: Any) -> Self:
        sentence = super().__new__(cls, template if number == 1 else plural, number=number, **values)
        # The English text has the right form already. For translations, `template` is the singular again.
        sentence.template, sentence.plural, sentence.number = template, plural, number
        return sentence

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        values = {name: value for name, value in self.values.items() if name != "number"}
        return (self.template, self.plural, self.number), values


def listed(texts: Iterable[str], between: str) -> Sentence:
    """Return several sentences as one, with the text `between` between them.

    Its template is `%(at0)s`, `between`, `%(at1)s` and so on, so that each sentence is translated by itself.
    """
    values = {f"at{number}": text for number, text in enumerate(texts)}
    return Sentence(between.join(f"%({name})s" for name in values), **values)


def to_data(text: str) -> Any:
    """Return a text as JSON can keep it, with what a Sentence was made of. `from_data` reads it."""
    if not isinstance(text, Sentence):
        return str(text)
    values = {name: _value_to_data(value) for name, value in text.values.items()}
    data = {"template": text.template, "values": values}
    return {**data, "plural": text.plural, "number": text.number} if isinstance(text, Counted) else data


def _value_to_data(value: Any) -> Any:
    """Return a value of a Sentence as JSON can keep it. Numbers stay numbers, for `%(number)d`."""
    return value if isinstance(value, int | float) else to_data(value)


def from_data(data: Any) -> str:
    """Return the text that `to_data` was given."""
    if not isinstance(data, dict):
        return str(data)
    values = {
        name: value if isinstance(value, int | float) else from_data(value)
        for name, value in data["values"].items()
    }
    if "plural" not in data:
        return Sentence(data["template"], **values)
    values.pop("number", None)
    return Counted(data["template"], data["plural"], data["number"], **values)


def for_log(error: BaseException) -> str:
    """Return what a log may say of `error`: its type and, for a Sentence, its text without the values filled
    in.

    The values may come from a caller, and many people read a log. Any other message may contain anything, and
    is left out.
    """
    words = _words(str(error))
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _words(text: str) -> str:
    """Return a Sentence with “…” for each value that is no Sentence itself; empty for any other text."""
    if not isinstance(text, Sentence):
        return ""
    if not text.values:
        return text.template
    return text.template % {name: _shown_value(name, value) for name, value in text.values.items()}


def _shown_value(name: str, value: Any) -> str:
    """Return a value of a Sentence for a log: “…”, unless it is a Sentence itself, or a status of HTTP."""
    if name == "status" and isinstance(value, int):
        return str(value)
    return _words(value) or "…"

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
        made = super().__new__(cls, template % values if values else template)
        made.template, made.values = template, values
        return made

    def __str__(self) -> str:
        return self


class Counted(Sentence):
    """A sentence of which languages have several forms: by `number`, which templates name `%(number)s`."""

    plural: str
    number: int

    def __new__(cls, template: str, plural: str, number: int, **values: Any) -> Self:
        made = super().__new__(cls, template if number == 1 else plural, number=number, **values)
        made.template, made.plural, made.number = template, plural, number
        return made


def listed(texts: Iterable[str], between: str) -> Sentence:
    """Several sentences, each whole, one after the other."""
    values = {f"at{number}": text for number, text in enumerate(texts)}
    return Sentence(between.join(f"%({name})s" for name in values), **values)


def for_log(error: BaseException) -> str:
    """What a log may say of `error`: its type, and of a sentence the words without what was filled in.

    Values may be a caller's, and a log is read by many. A message that is no sentence may hold anything.
    """
    said = _words(str(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _words(text: str) -> str:
    if not isinstance(text, Sentence):
        return ""
    if not text.values:
        return text.template
    return text.template % {name: _words(value) or "…" for name, value in text.values.items()}

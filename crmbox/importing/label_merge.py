"""Merging the labels of what exists with those of a source."""

from __future__ import annotations

from collections.abc import Iterator

from crmclient.metadata import ENGLISH, Label


def label_or_name(label: Label, name: str) -> Label:
    """Return the label or, when it is empty, `name` as its English text."""
    return label if label.texts else Label({ENGLISH: name})


def merged_label(before: Label, after: Label) -> Label:
    """Return the texts of both. Where both have one in a language, that of the source counts."""
    texts = {**before.texts, **after.texts}
    return before if texts == before.texts else Label(texts)


def completed_label(before: Label, after: Label, name: str) -> Label:
    """Return the label of the source where nobody has described what has it: it is `name`, or empty."""
    return after if before in (Label(), Label({ENGLISH: name})) and after.texts else before


def label_differences(what: str, before: Label, after: Label) -> Iterator[str]:
    """Yield the changes of a label in words, one for each language. `what` names it, as in *its label*."""
    for language, text in after.texts.items():
        former = before.texts.get(language)
        if former is None:
            yield f"{what} in language {language} comes: “{text}”"
        elif former != text:
            yield f"{what} in language {language} goes from “{former}” to “{text}”"

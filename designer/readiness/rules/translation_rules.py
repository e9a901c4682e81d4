"""Texts in several languages: the platform knows the language, and a text fits where its own does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from designer.definitions import InputDefinition
from designer.definitions.translations import Translated
from designer.readiness.registry import Found, warning
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _


@warning("translation-unknown-language")
def languages_are_the_platforms(subject: EndpointSubject) -> Found:
    """Find languages of texts that the platform does not have. Nothing where its languages are not known."""
    used = subject.definition.languages()
    if not used:
        return
    languages = subject.metadata.languages()
    if not languages:
        return
    for lcid in sorted(used.difference(languages)):
        yield (
            _(
                "There are texts in the language %(lcid)s, which the platform does not have: labels of its "
                "attributes and options are then in another language. The platform has: %(known)s.",
                lcid=lcid,
                known=", ".join(map(str, languages)),
            ),
            "translations",
        )


@warning("translation-too-long")
def translations_are_short(subject: EndpointSubject) -> Found:
    """Find translations that are longer than texts at their place should be."""
    for place, part in _translated(subject):
        for lcid, texts in part.translations.items():
            for name, text in texts.items():
                longest = part.longest[name]
                if longest is not None and len(text) > longest:
                    yield (
                        _(
                            "%(place)s in the language %(lcid)s has %(length)s characters; at most "
                            "%(longest)s are meant for it. Shorten the text.",
                            place=f"{place}.{name}" if place else name,
                            lcid=lcid,
                            length=len(text),
                            longest=longest,
                        ),
                        "translations",
                    )


def _translated(subject: EndpointSubject) -> Iterator[tuple[str, Translated]]:
    """Yield the parts of the endpoint that have texts, each after its place."""
    definition = subject.definition
    yield "", definition
    yield from _translated_inputs(definition.inputs, "")
    for position, precondition in enumerate(definition.preconditions):
        yield f"preconditions.{position}", precondition


def _translated_inputs(inputs: Iterable[InputDefinition], inside: str) -> Iterator[tuple[str, Translated]]:
    """Yield the inputs, and those inside of them, each after its place. `inside`: the place around them, with
    a dot.
    """
    for input_definition in inputs:
        place = f"{inside}inputs.{input_definition.name}"
        yield place, input_definition
        yield from _translated_inputs(input_definition.inputs, f"{place}.")

"""Merging an existing attribute with what a source says about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace as changed

from crmclient.metadata import Attribute, AttributeType, Label, RequiredLevel

_ALIKE = {
    AttributeType.INTEGER: frozenset({AttributeType.PICKLIST, AttributeType.STATE, AttributeType.STATUS}),
    AttributeType.STRING: frozenset({AttributeType.MEMO, AttributeType.MULTISELECT, AttributeType.FILE}),
    AttributeType.DECIMAL: frozenset({AttributeType.MONEY}),
    AttributeType.BIGINT: frozenset({AttributeType.INTEGER}),
    AttributeType.LOOKUP: frozenset({AttributeType.CUSTOMER, AttributeType.OWNER}),
}
"""The types that an existing attribute may have, by the type that an outline gives it for want of detail."""


def other_type(before: Attribute, after: Attribute, *, is_outline: bool) -> str | None:
    """Return why the attribute of a source is not the existing one; None where it is."""
    if (before.type, before.behavior) == (after.type, after.behavior):
        return None
    if is_outline and before.type in _ALIKE.get(after.type, ()):
        return None
    return f"It is {_type_in_words(before)} here already, and {_type_in_words(after)} in the source."


def merged(
    before: Attribute, after: Attribute, *, is_outline: bool, is_engine: bool, keeps_targets: bool
) -> Attribute:
    """What is there, as the source describes it now. Targets are only added.

    Args:
        is_outline: the source knows names and types alone, so labels, lengths and options stay.
        is_engine: the CRM in the box keeps the attribute by itself; a source may only label it.
        keeps_targets: what the lookup points at is not the source's to say.
    """
    targets = before.targets
    if not keeps_targets:
        targets = (*targets, *(target for target in after.targets if target not in targets))
    if is_outline:
        return changed(before, targets=targets)
    labelled = changed(
        before,
        label=merged_label(before.label, after.label),
        description=merged_label(before.description, after.description),
    )
    if is_engine or not (before.creatable or before.updatable):
        return labelled
    both_have_lengths = after.max_length is not None and before.max_length is not None
    has_options = after.options is not None and bool(after.options.options)
    return changed(
        labelled,
        targets=targets,
        required=before.required if before.is_primary_id else after.required,
        max_length=after.max_length if both_have_lengths else before.max_length,
        minimum=after.minimum,
        maximum=after.maximum,
        max_size=after.max_size or before.max_size,
        options=after.options if has_options and before.options is not None else before.options,
    )


def is_shorter(before: Attribute, after: Attribute) -> bool:
    """Whether texts that fitted before may be too long now."""
    return (after.max_length or 0) < (before.max_length or 0)


def differences(before: Attribute, after: Attribute) -> Iterator[str]:
    """Yield the changes of an attribute in words, except for a shorter length, which has a note of its
    own.
    """
    if new := [target for target in after.targets if target not in before.targets]:
        yield f"it points at {', '.join(new)} too"
    if (after.max_length or 0) > (before.max_length or 0):
        yield f"its length goes from {before.max_length:,} to {after.max_length:,} characters"
    if (before.minimum, before.maximum) != (after.minimum, after.maximum):
        yield "its limits"
    if before.options != after.options:
        yield "its options"
    if (before.label, before.description) != (after.label, after.description):
        yield "its labels"
    if before.required is not after.required:
        yield "it is required" if after.required is RequiredLevel.APPLICATION else "it is not required"
    if before.max_size != after.max_size:
        yield "its largest size"


def merged_label(before: Label, after: Label) -> Label:
    """Return the texts of both. Where both have one in a language, that of the source counts."""
    texts = {**before.texts, **after.texts}
    return before if texts == before.texts else Label(texts)


def _type_in_words(attribute: Attribute) -> str:
    if attribute.type is AttributeType.DATETIME:
        return f"{attribute.type.value} ({attribute.behavior.value})"
    return str(attribute.type.value)

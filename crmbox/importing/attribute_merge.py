"""Merging an existing attribute with what a source says about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace as changed
from decimal import Decimal

from crmbox.importing.label_merge import completed_label, label_differences, merged_label
from crmclient.metadata import Attribute, AttributeType

_ALIKE = {
    AttributeType.INTEGER: frozenset({AttributeType.PICKLIST, AttributeType.STATE, AttributeType.STATUS}),
    AttributeType.STRING: frozenset({AttributeType.MEMO, AttributeType.MULTISELECT, AttributeType.FILE}),
    AttributeType.DECIMAL: frozenset({AttributeType.MONEY}),
    AttributeType.BIGINT: frozenset({AttributeType.INTEGER}),
    AttributeType.LOOKUP: frozenset({AttributeType.CUSTOMER, AttributeType.OWNER}),
}
"""The types that an existing attribute may have, by the type that a source gives it for want of detail."""


def type_conflict(before: Attribute, after: Attribute, *, only_completes: bool) -> str | None:
    """Return why the attribute of a source is not the existing one; None where it is."""
    if (before.type, before.behavior) == (after.type, after.behavior):
        return None
    if only_completes and before.type in _ALIKE.get(after.type, ()):
        return None
    return f"It is {_type_in_words(before)} here already, and {_type_in_words(after)} in the source."


def completed_attribute(before: Attribute, after: Attribute, *, keeps_targets: bool) -> Attribute:
    """Return the existing attribute `before`, completed from a source that may change nothing of it.

    It gets further targets, unless `keeps_targets`, and a label where nobody has given it one yet.
    """
    return changed(
        before,
        label=completed_label(before.label, after.label, before.logical_name),
        targets=before.targets if keeps_targets else _targets_of_both(before, after),
    )


def merged_attribute(
    before: Attribute, after: Attribute, *, is_engine: bool, keeps_targets: bool
) -> Attribute:
    """Return the existing attribute `before` as the source describes it in `after`.

    Targets are only added. Options stay: they are planned by themselves.

    Args:
        is_engine: the CRM in the box keeps the attribute by itself; a source may only label it.
        keeps_targets: what the lookup points at is not the source's to say.
    """
    labelled = changed(
        before,
        label=merged_label(before.label, after.label),
        description=merged_label(before.description, after.description),
    )
    if is_engine:
        return labelled
    targeted = changed(labelled, targets=before.targets if keeps_targets else _targets_of_both(before, after))
    # The limits of an attribute that only the platform writes are the platform's. What it points at is not: a
    # party of an activity may be a record of any entity.
    if not (before.creatable or before.updatable):
        return targeted
    both_have_lengths = after.max_length is not None and before.max_length is not None
    return changed(
        targeted,
        required=before.required if before.is_primary_id else after.required,
        max_length=after.max_length if both_have_lengths else before.max_length,
        # Values may use the decimal places that there are.
        precision=max(before.precision or 0, after.precision or 0) if before.precision is not None else None,
        minimum=after.minimum,
        maximum=after.maximum,
        max_size=after.max_size or before.max_size,
    )


def is_shorter(before: Attribute, after: Attribute) -> bool:
    """Whether texts that fitted before may be too long now."""
    return (after.max_length or 0) < (before.max_length or 0)


def differences(before: Attribute, after: Attribute) -> Iterator[str]:
    """Yield the changes of an attribute in words, except for options and a shorter length."""
    if new_targets := [target for target in after.targets if target not in before.targets]:
        yield f"it points at {', '.join(new_targets)} too"
    if (after.max_length or 0) > (before.max_length or 0):
        yield f"its length goes from {before.max_length:,} to {after.max_length:,} characters"
    if before.precision != after.precision:
        yield f"its decimal places go from {before.precision} to {after.precision}"
    if before.minimum != after.minimum:
        yield f"its minimum goes from {_limit(before.minimum)} to {_limit(after.minimum)}"
    if before.maximum != after.maximum:
        yield f"its maximum goes from {_limit(before.maximum)} to {_limit(after.maximum)}"
    yield from label_differences("its label", before.label, after.label)
    yield from label_differences("its description", before.description, after.description)
    if before.required is not after.required:
        yield f"its required level goes from {before.required.value} to {after.required.value}"
    if before.max_size != after.max_size:
        yield f"its largest size goes from {_limit(before.max_size)} to {_limit(after.max_size)} bytes"


def _targets_of_both(before: Attribute, after: Attribute) -> tuple[str, ...]:
    return *before.targets, *(target for target in after.targets if target not in before.targets)


def _limit(value: Decimal | int | None) -> str:
    return "none" if value is None else f"{value:,}"


def _type_in_words(attribute: Attribute) -> str:
    if attribute.type is AttributeType.DATETIME:
        return f"{attribute.type.value} ({attribute.behavior.value})"
    return str(attribute.type.value)

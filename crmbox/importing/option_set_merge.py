"""Merging an existing option set with what a source says about it.

An option that the source lacks goes, unless records have it. A status that belongs to another state in the
source is another option: records that have it are in the old state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace as changed

from crmbox.importing.label_merge import label_differences, merged_label
from crmclient.metadata import Option, OptionSet


def options_that_go(before: OptionSet, after: OptionSet) -> list[Option]:
    """Return the options that a source no longer has."""
    return _missing(before, after)


def merged_option_set(before: OptionSet, after: OptionSet, used: Collection[int]) -> OptionSet:
    """Return `after`, the option set of the source, with the labels of both and the options that must stay.

    `used` are the values of options that stay although the source lacks them, because records have them. They
    come last.
    """
    stay = [option for option in _missing(before, after) if option.value in used]
    kept_values = {option.value for option in stay}
    present = {option.value: option for option in before.options}
    of_source = (
        changed(option, label=merged_label(present[option.value].label, option.label))
        if option.value in present
        else option
        for option in after.options
        if option.value not in kept_values
    )
    kept_states = {option.state for option in stay if option.state is not None}
    return changed(
        after,
        label=merged_label(before.label, after.label),
        options=(*of_source, *stay),
        inactive_states=after.inactive_states | (before.inactive_states & kept_states),
    )


def states_with_statuses(states: OptionSet, statuses: OptionSet) -> OptionSet:
    """Return the states that have a status. Each keeps its default status if that is one of its own; else the
    first of its own becomes the default.
    """
    of_state: dict[int | None, list[int]] = {}
    for status in statuses.options:
        of_state.setdefault(status.state, []).append(status.value)
    return changed(
        states,
        options=tuple(
            option
            if option.default_status in of_state[option.value]
            else changed(option, default_status=of_state[option.value][0])
            for option in states.options
            if option.value in of_state
        ),
    )


def option_differences(before: OptionSet, after: OptionSet) -> Iterator[str]:
    """Yield the changes of an option set in words: options that go or come, and changes of the others."""
    if gone := _missing(before, after):
        yield f"options that go: {_listed(gone)}"
    if new := _missing(after, before):
        yield f"options that come: {_listed(new)}"
    stay = {_identity(option) for option in before.options} & {_identity(option) for option in after.options}
    old_by_value, new_by_value = (
        {option.value: option for option in option_set.options if _identity(option) in stay}
        for option_set in (before, after)
    )
    for value, option in new_by_value.items():
        yield from label_differences(f"the label of option {value}", old_by_value[value].label, option.label)
        if option.hidden != old_by_value[value].hidden:
            yield f"option {value} is {'hidden' if option.hidden else 'shown'}"
        if option.default_status != old_by_value[value].default_status:
            yield f"the default status of state {value} is {option.default_status}"
    if any(option.color != old_by_value[value].color for value, option in new_by_value.items()):
        yield "the colors of its options"
    if [value for value in old_by_value if value in new_by_value] != list(new_by_value):
        yield "the order of its options"
    if before.inactive_states != after.inactive_states:
        yield f"its inactive states are {', '.join(map(str, sorted(after.inactive_states))) or 'none'}"


def _missing(among: OptionSet, other: OptionSet) -> list[Option]:
    """Return the options of one set that the other lacks."""
    present = {_identity(option) for option in other.options}
    return [option for option in among.options if _identity(option) not in present]


def _identity(option: Option) -> tuple[int, int | None]:
    """Return what tells options apart. A status that has another state is another option."""
    return option.value, option.state


def _listed(options: Iterable[Option]) -> str:
    return ", ".join(
        f"{option.value} ({text})" if (text := option.label.text()) else str(option.value)
        for option in options
    )

"""Fits option sets, states and defaults of choices to the embedded platform."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace as changed

from crmbox.importing.option_set_merge import states_with_statuses
from crmbox.importing.source_entity import Note, SourceEntity, left_out
from crmclient.metadata import Attribute, AttributeType, Option, OptionSet

STATE, STATUS = "statecode", "statuscode"


def fitted_option_set(option_set: OptionSet, notes: list[Note], subject: str | None = None) -> OptionSet:
    """Return an option set with a valid name, and with each value once. Leave a note for each other option.

    `subject` is the attribute that the notes are about; None: the option set itself.
    """
    options: dict[int, Option] = {}
    for option in option_set.options:
        if option.value in options or not -(2**31) <= option.value < 2**31:
            why = "is there twice" if option.value in options else "is no 32-bit number"
            notes.append(
                left_out(f"{subject or option_set.name}: option {option.value}", f"The value {why}.")
            )
        else:
            options[option.value] = option
    return changed(option_set, name=option_set_name(option_set.name), options=tuple(options.values()))


def option_set_name(name: str) -> str:
    """Return the name of an option set in lower-case letters, digits and underscores."""
    valid_name = re.sub(r"\W", "_", name.lower(), flags=re.ASCII)[:128]
    return valid_name if not valid_name[:1].isdigit() else f"_{valid_name[:127]}"


def states_fit(attributes: Mapping[str, Attribute]) -> bool:
    """Whether states and statuses have options, with a status for each state.

    Otherwise the platform's own are used.
    """
    state, status = attributes.get(STATE), attributes.get(STATUS)
    states = _options_of_type(state, AttributeType.STATE)
    statuses = _options_of_type(status, AttributeType.STATUS)
    return bool(states) and {option.value for option in states} == {option.state for option in statuses}


def _options_of_type(attribute: Attribute | None, type_: AttributeType) -> tuple[Option, ...]:
    if attribute is None or attribute.type is not type_ or attribute.options is None:
        return ()
    return attribute.options.options


def with_default_status(attribute: Attribute, attributes: Mapping[str, Attribute]) -> Attribute:
    """Return the attribute of the state with a default status for each state: its own if that is one of the
    state's, else the first of these.

    `attributes` are those of the entity. An attribute of another type is returned as it is.
    """
    # `states_fit` has found a status beside a state.
    statuses = attributes[STATUS].options if attribute.type is AttributeType.STATE else None
    if attribute.options is None or statuses is None:
        return attribute
    return changed(attribute, options=states_with_statuses(attribute.options, statuses))


def is_default(value: bool | int, attribute: Attribute | None, source_entity: SourceEntity) -> bool:
    """Whether an attribute of the fitted entity can have this default value."""
    if attribute is None:
        return False
    if attribute.type is not AttributeType.PICKLIST:
        return attribute.type is AttributeType.BOOLEAN and isinstance(value, bool)
    option_set = attribute.options or next(
        _option_sets_named(source_entity.option_sets, attribute.option_set), None
    )
    return option_set is not None and value in {option.value for option in option_set.options}


def _option_sets_named(option_sets: tuple[OptionSet, ...], name: str | None) -> Iterator[OptionSet]:
    return (option_set for option_set in option_sets if option_set_name(option_set.name) == name)

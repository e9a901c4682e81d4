"""The attributes that inputs are bound to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from crmclient.metadata import Attribute, OptionSet
from designer.definitions import BindingDefinition
from designer.types.base import tighter


def bound_attributes(
    bindings: Iterable[BindingDefinition], attributes: Mapping[str, Attribute]
) -> dict[str, Attribute]:
    """Return the attribute that each bound input takes its limits and its label from, by the input's name.

    `attributes` are those that bindings may set. Of several attributes of one input, the last counts, with
    the tightest limits of all: the platform refuses a value that any of them does not hold.
    """
    bound: dict[str, Attribute] = {}
    for binding in bindings:
        if binding.source == "input" and binding.attribute in attributes:
            name, attribute = str(binding.value), attributes[binding.attribute]
            bound[name] = _with_common_limits(attribute, bound[name]) if name in bound else attribute
    return bound


def bound_options(
    bindings: Iterable[BindingDefinition],
    attributes: Mapping[str, Attribute],
    options_of: Callable[[Attribute], OptionSet | None],
) -> dict[str, OptionSet]:
    """Return the options that each input may have that is bound to a choice, by the input's name.

    `options_of` returns the option set of an attribute; None for one without. Of several choices of one
    input, only the options that all of them have are left: the platform refuses any other.
    """
    options_by_input: dict[str, OptionSet] = {}
    for binding in bindings:
        if binding.source != "input" or binding.attribute not in attributes:
            continue
        name, option_set = str(binding.value), options_of(attributes[binding.attribute])
        earlier = options_by_input.get(name)
        if option_set is not None and earlier is not None:
            values = {option.value for option in earlier.options}
            common = tuple(option for option in option_set.options if option.value in values)
            option_set = replace(option_set, options=common)
        if option_set is not None:
            options_by_input[name] = option_set
    return options_by_input


def _with_common_limits(attribute: Attribute, other: Attribute) -> Attribute:
    """Return `attribute` with the tighter of its own limits and those of `other`."""
    common_targets = tuple(target for target in attribute.targets if target in other.targets)
    return replace(
        attribute,
        minimum=tighter(max, attribute.minimum, other.minimum),
        maximum=tighter(min, attribute.maximum, other.maximum),
        max_length=tighter(min, attribute.max_length, other.max_length),
        precision=tighter(min, attribute.precision, other.precision),
        # Without a common one, no record fits: readiness finds that, and the platform says so of each.
        targets=common_targets or attribute.targets,
        takes_addresses=attribute.takes_addresses and other.takes_addresses,
    )

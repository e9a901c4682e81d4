"""The attributes that inputs are bound to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from crmclient.metadata import Attribute
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


def _with_common_limits(attribute: Attribute, other: Attribute) -> Attribute:
    """Return `attribute` with the tighter of its own limits and those of `other`."""
    common_targets = tuple(target for target in attribute.targets if target in other.targets)
    return replace(
        attribute,
        minimum=tighter(max, attribute.minimum, other.minimum),
        maximum=tighter(min, attribute.maximum, other.maximum),
        max_length=tighter(min, attribute.max_length, other.max_length),
        precision=tighter(min, attribute.precision, other.precision),
        # Without a common one, no record fits: the platform says so of each.
        targets=common_targets or attribute.targets,
        takes_addresses=attribute.takes_addresses and other.takes_addresses,
    )

"""What is left of an input's values once every attribute that is bound to it holds them."""

from __future__ import annotations

from designer.definitions import InputDefinition
from designer.readiness.registry import Found, blocking
from designer.readiness.subjects import EndpointSubject
from designer.sentences import Sentence as _
from designer.types import Limits


@blocking("input-attributes")
def attributes_leave_something(subject: EndpointSubject) -> Found:
    """Find inputs none of whose values the attributes that are bound to them hold. What an input's own limits
    leave has rules of its own.
    """
    for definition in subject.inputs:
        attributes = subject.attributes_set_by(definition.name)
        names = ", ".join(f"“{attribute.logical_name}”" for attribute in attributes)
        options = subject.options_limiting(definition.name)
        targets = [set(attribute.targets) for attribute in attributes if attribute.targets]
        if options is not None and not options.options and len(attributes) > 1:
            yield (
                _(
                    "Input “%(name)s” sets %(attributes)s, which have no option in common. Bind each of them "
                    "to an input of its own.",
                    name=definition.name,
                    attributes=names,
                ),
                f"inputs.{definition.name}.type",
            )
        elif targets and not set.intersection(*targets):
            yield (
                _(
                    "Input “%(name)s” sets %(attributes)s, which refer to records of different entities. "
                    "Bind each of them to an input of its own.",
                    name=definition.name,
                    attributes=names,
                ),
                f"inputs.{definition.name}.type",
            )
        elif attributes:
            yield from _limits_beyond_attributes(subject, definition, names)


def _limits_beyond_attributes(subject: EndpointSubject, definition: InputDefinition, names: str) -> Found:
    """Find a limit of an input that no value can meet which its attributes, in `names`, hold."""
    own, common = Limits.of(definition), Limits.of(definition, subject.attribute_limiting(definition.name))
    for low, high in (("minimum", "maximum"), ("min_length", "max_length")):
        if _cross(common, low, high) and not _cross(own, low, high):
            yield (
                _(
                    "No value of input “%(name)s” meets its own limits and those of %(attributes)s: the "
                    "lower limit is %(low)s, and the upper limit is %(high)s. Change the limits, or bind "
                    "another input.",
                    name=definition.name,
                    attributes=names,
                    low=getattr(common, low),
                    high=getattr(common, high),
                ),
                f"inputs.{definition.name}.{low}",
            )


def _cross(limits: Limits, low: str, high: str) -> bool:
    """Whether the lower one of two limits is above the upper one."""
    lowest, highest = getattr(limits, low), getattr(limits, high)
    return lowest is not None and highest is not None and lowest > highest

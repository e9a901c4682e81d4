"""Inputs for the parameters of queries, of a type that conditions can compare with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crmclient.metadata import Attribute
from crmclient.query.designed import OPERATORS, DesignedOperator, values_taken
from crmclient.query.families import FAMILY, families_of
from designer.definitions import InputDefinition
from designer.types import TYPES


def fitting_types(operator: DesignedOperator, attribute: Attribute) -> list[str]:
    """Return the types of input that fit a condition, the best first.

    Of types that fit equally well, the attribute's own comes first: the order in which types are registered
    says nothing.
    """
    ranks = {
        input_type.name: (rank, not input_type.is_natural_for(attribute), input_type.name)
        for input_type in TYPES.values()
        if input_type.in_query and (rank := input_type.rank(operator, attribute)) is not None
    }
    return sorted(ranks, key=ranks.__getitem__)


def parameter_types(attribute: Attribute) -> Mapping[str, str]:
    """Return the best type of a parameter that the attribute is compared with, by the name of
    the operator.
    """
    family = FAMILY.get(attribute.type)
    return {
        name: types[0]
        for name, operator in OPERATORS.items()
        if family in families_of(operator)
        and values_taken(operator) != 0
        and (types := fitting_types(operator, attribute))
    }


def parameter_input(name: str, uses: Iterable[tuple[DesignedOperator, Attribute]]) -> InputDefinition | None:
    """Return an optional input called `name` that fits all `uses`; None where no type does.

    Without a value for it, its conditions are left out.
    """
    used = list(uses)
    if not used:
        return None
    types_by_use = [fitting_types(operator, attribute) for operator, attribute in used]
    common = [
        type_name for type_name in types_by_use[0] if all(type_name in types for types in types_by_use[1:])
    ]
    if not common:
        return None
    return InputDefinition(name=name, type=common[0], description=used[0][1].label.text())

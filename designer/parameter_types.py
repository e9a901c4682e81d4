"""Inputs for the parameters of queries, of a type that conditions can compare with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crmclient.metadata import Attribute
from crmclient.query.designed import OPERATORS, DesignedOperator, values_taken
from crmclient.query.families import FAMILY, families_of
from designer.definitions import InputDefinition
from designer.types import TYPES


def fitting_types(operator: DesignedOperator, attribute: Attribute) -> list[str]:
    """The types of input that fit a condition, the best first."""
    ranks = {kind.name: kind.rank(operator, attribute) for kind in TYPES.values() if kind.in_query}
    return sorted(
        (name for name, rank in ranks.items() if rank is not None), key=lambda name: ranks[name] or 0
    )


def parameter_types(attribute: Attribute) -> Mapping[str, str]:
    """The type of a parameter by the operator that compares the attribute with it."""
    family = FAMILY.get(attribute.type)
    return {
        name: types[0]
        for name, operator in OPERATORS.items()
        if family in families_of(operator)
        and values_taken(operator) != 0
        and (types := fitting_types(operator, attribute))
    }


def parameter_input(name: str, uses: Iterable[tuple[DesignedOperator, Attribute]]) -> InputDefinition | None:
    """An input called `name` that fits everywhere it is used; None where no type does.

    It is optional: without it, its conditions are left out.
    """
    used = list(uses)
    if not used:
        return None
    of_each = [fitting_types(operator, attribute) for operator, attribute in used]
    common = [known for known in of_each[0] if all(known in types for types in of_each[1:])]
    if not common:
        return None
    return InputDefinition(name=name, type=common[0], description=used[0][1].label.text())

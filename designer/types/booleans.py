"""Boolean: true or false, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crmclient.metadata import AttributeType
from designer.types.base import InvalidInput, Limits, Reader


@dataclass(frozen=True, slots=True)
class BooleanType:
    name: str = "Boolean"
    label: str = "Yes or no"
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.BOOLEAN})
    constraints: frozenset[str] = frozenset()

    def compile(self, limits: Limits) -> Reader:
        def read(raw: Any) -> bool:
            if type(raw) is not bool:
                raise InvalidInput("wrong_type", "Must be true or false.")
            return raw

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "boolean"}


BOOLEAN = BooleanType()

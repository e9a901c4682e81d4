"""Boolean: true or false, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop as _

from crmclient.metadata import AttributeType
from designer.sentences import Sentence
from designer.types.base import InvalidInput, Limits, Reader


@dataclass(frozen=True, slots=True)
class BooleanType:
    name: str = "Boolean"
    label: str = _("Yes or no")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.BOOLEAN})
    constraints: frozenset[str] = frozenset()

    def compile(self, limits: Limits) -> Reader:
        def read(raw: Any) -> bool:
            if type(raw) is not bool:
                raise InvalidInput("wrong_type", Sentence("Must be true or false."))
            return raw

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "boolean"}


BOOLEAN = BooleanType()

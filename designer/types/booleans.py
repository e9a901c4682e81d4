"""Boolean: true or false, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_noop as _

from crmclient.metadata import AttributeType
from designer.sentences import Sentence
from designer.types.base import InputType, InvalidInput, Limits, Reader

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class BooleanType(InputType):
    name: str = "Boolean"
    label: str = _("Yes or no")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.BOOLEAN})
    constraints: frozenset[str] = frozenset()
    editor: ClassVar[str] = "boolean"
    sample: ClassVar[Any] = True

    @property
    def widget(self) -> str:
        return "checkbox"

    def from_text(self, text: str) -> Any:
        """Return True or False for “true” or “false” in any case, and any other text as it is."""
        return _BOOLEANS.get(text.lower(), text)

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of true and false. It raises InvalidInput for anything else."""

        def read(raw: Any) -> bool:
            if type(raw) is not bool:
                raise InvalidInput("wrong_type", Sentence("Must be true or false."))
            return raw

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "boolean"}


BOOLEAN = BooleanType()

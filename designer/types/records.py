"""Record: one record, for the process that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_noop as _

from crmclient.metadata import AttributeType
from designer.sentences import Sentence
from designer.types.base import InputType, InvalidInput, Limits, Reader


@dataclass(frozen=True, slots=True)
class RecordType(InputType):
    """An object with inputs of its own, which are read elsewhere."""

    name: str = "Record"
    label: str = _("Record")
    attribute_types: frozenset[AttributeType] = frozenset()
    constraints: frozenset[str] = frozenset()
    in_query: ClassVar[bool] = False
    holds_records: ClassVar[bool] = True
    holds_one: ClassVar[bool] = True

    @property
    def widget(self) -> str:
        return "record"

    def compile(self, limits: Limits) -> Reader:
        """Return a reader that returns an object as it is. It raises InvalidInput for anything else."""

        def read(raw: Any) -> Any:
            if type(raw) is not dict:
                raise InvalidInput("wrong_type", Sentence("Must be an object."))
            return raw

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        return {"type": "object"}


RECORD = RecordType()

"""List: records to be created along with the endpoint's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_noop as _

from crmclient.metadata import AttributeType
from designer.sentences import Sentence
from designer.types.base import InputType, InvalidInput, Limits, Reader

MOST_ITEMS = 100


@dataclass(frozen=True, slots=True)
class ListType(InputType):
    """An array whose number of items is limited. Its items are read elsewhere, by their own inputs."""

    name: str = "List"
    label: str = _("List of records")
    attribute_types: frozenset[AttributeType] = frozenset()
    constraints: frozenset[str] = frozenset({"min_length", "max_length"})
    in_query: ClassVar[bool] = False
    holds_records: ClassVar[bool] = True

    @property
    def widget(self) -> str:
        return "list"

    def compile(self, limits: Limits) -> Reader:
        """Return a reader that checks the number of items of an array, and returns the array as it is. It
        raises InvalidInput.
        """
        fewest, most = _bounds(limits)

        def read(raw: Any) -> Any:
            if type(raw) is not list:
                raise InvalidInput("wrong_type", Sentence("Must be an array of objects."))
            if not fewest <= len(raw) <= most:
                raise InvalidInput(
                    "wrong_length",
                    Sentence("Must hold %(fewest)s to %(most)s items.", fewest=fewest, most=most),
                )
            return raw

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        fewest, most = _bounds(limits)
        return {"type": "array", "minItems": fewest, "maxItems": most}


def _bounds(limits: Limits) -> tuple[int, int]:
    """Return the fewest and the most items that a list may hold. A required one holds at least one."""
    fewest = max(limits.min_length or 0, 1 if limits.required else 0)
    return fewest, MOST_ITEMS if limits.max_length is None else min(MOST_ITEMS, limits.max_length)


LIST = ListType()

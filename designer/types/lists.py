"""List: records to be created along with the endpoint's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_noop as _

from crmclient.metadata import AttributeType
from designer.sentences import Sentence
from designer.types.base import InputType, InvalidInput, Limits, Reader, item_bounds

MOST_ITEMS = 100


@dataclass(frozen=True, slots=True)
class ListType(InputType):
    """An array whose number of items is limited. Its items are read elsewhere, by their own inputs."""

    name: str = "List"
    label: str = _("List of records")
    attribute_types: frozenset[AttributeType] = frozenset()
    constraints: frozenset[str] = frozenset({"min_length", "max_length"})
    in_query: ClassVar[bool] = False
    most_items: ClassVar[int | None] = MOST_ITEMS
    holds_records: ClassVar[bool] = True

    @property
    def widget(self) -> str:
        return "list"

    def compile(self, limits: Limits) -> Reader:
        """Return a reader that checks the number of items of an array, and returns the array as it is. It
        raises InvalidInput.
        """
        fewest, most = item_bounds(limits, MOST_ITEMS)

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
        fewest, most = item_bounds(limits, MOST_ITEMS)
        return {"type": "array", "minItems": fewest, "maxItems": most}


LIST = ListType()

"""OptionSet and MultiOptionSet: values of an option set's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from django.utils.translation import gettext_noop as _

from crmclient.metadata import Attribute, AttributeType
from crmclient.query.designed import DateOperator, DesignedOperator
from crmclient.query.shape import LISTS
from designer.sentences import Sentence
from designer.types.allowed import within
from designer.types.base import PATTERNS, InputType, InvalidInput, Limits, Reader, item_bounds, whole_number

MOST_OPTIONS = 150


@dataclass(frozen=True, slots=True)
class OptionSetType(InputType):
    """One option, by its value."""

    name: str = "OptionSet"
    label: str = _("Option")
    attribute_types: frozenset[AttributeType] = frozenset(
        {AttributeType.PICKLIST, AttributeType.STATE, AttributeType.STATUS}
    )
    constraints: frozenset[str] = frozenset({"allowed"})
    editor: ClassVar[str] = "option"
    sample: ClassVar[Any] = 1
    is_choice: ClassVar[bool] = True

    @property
    def widget(self) -> str:
        return "select"

    def from_text(self, text: str) -> Any:
        """Return the number in a text of a query string, and any other text as it is."""
        return whole_number(text)

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        return 0 if _compares_single_options(operator, attribute) else None

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of the value of one option. It raises InvalidInput."""
        return within(limits, _option_reader(limits.options))

    def schema(self, limits: Limits) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "integer"}
        # Without known options, any whole number is read.
        values = list(limits.allowed) or sorted(limits.options or ())
        return {**schema, "enum": values} if values else schema


@dataclass(frozen=True, slots=True)
class MultiOptionSetType(InputType):
    """Several options, each once; kept in ascending order. `allowed` narrows every item."""

    name: str = "MultiOptionSet"
    label: str = _("Several options")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.MULTISELECT})
    constraints: frozenset[str] = frozenset({"min_length", "max_length", "allowed"})
    editor: ClassVar[str] = "options"
    sample: ClassVar[Any] = [1]
    is_choice: ClassVar[bool] = True
    is_several: ClassVar[bool] = True
    most_items: ClassVar[int | None] = MOST_OPTIONS

    @property
    def widget(self) -> str:
        return "multiselect"

    def from_text(self, text: str) -> Any:
        """Return one item of a query string as a number, and any other text as it is."""
        return whole_number(text)

    def rank(self, operator: DesignedOperator, attribute: Attribute) -> int | None:
        """Return how well the type fits a condition: 0 is best, and None is not at all."""
        # The operators of LISTS compare with single options: a whole choice suits the other ones best.
        if attribute.type is AttributeType.MULTISELECT and operator not in LISTS:
            return 0
        return 1 if operator in LISTS and _compares_single_options(operator, attribute) else None

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of an array of option values. It raises InvalidInput."""
        read_one = cast(Callable[[Any], int], within(limits, _option_reader(limits.options)))
        fewest, most = item_bounds(limits, MOST_OPTIONS)

        def read(raw: Any) -> tuple[int, ...]:
            if type(raw) is not list:
                raise InvalidInput("wrong_type", Sentence("Must be an array of option values."))
            if not fewest <= len(raw) <= most:
                raise InvalidInput(
                    "wrong_length",
                    Sentence("Must hold %(fewest)s to %(most)s options.", fewest=fewest, most=most),
                )
            values = [read_one(item) for item in raw]
            if len(set(values)) != len(values):
                raise InvalidInput("repeated", Sentence("Must not name an option twice."))
            return tuple(sorted(values))

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        fewest, most = item_bounds(limits, MOST_OPTIONS)
        items = OPTION_SET.schema(limits)
        return {"type": "array", "items": items, "uniqueItems": True, "minItems": fewest, "maxItems": most}


def _compares_single_options(operator: DesignedOperator, attribute: Attribute) -> bool:
    """Whether a condition with `operator` on `attribute` compares with single options."""
    if attribute.type in OPTION_SET.attribute_types:
        return not isinstance(operator, DateOperator) and operator not in PATTERNS
    return attribute.type is AttributeType.MULTISELECT and operator in LISTS


def _option_reader(options: frozenset[int] | None) -> Callable[[Any], int]:
    """Return a reader of the value of one option. None: the options are not known, and any value is read."""

    def read(raw: Any) -> int:
        if type(raw) is not int:
            raise InvalidInput("wrong_type", Sentence("Must be the value of an option, a whole number."))
        if options is not None and raw not in options:
            raise InvalidInput(
                "unknown_option", Sentence("%(raw)s is not a value of this option set.", raw=raw)
            )
        return raw

    return read


OPTION_SET = OptionSetType()
MULTI_OPTION_SET = MultiOptionSetType()

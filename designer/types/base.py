"""Input types: what a caller may send for an input, and the value it becomes.

A type is one module here and one line in `TYPES`. Readers are compiled once for an endpoint; they are strict:
nothing is coerced, rounded or passed through a float.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

from crmclient import Value
from crmclient.metadata import Attribute, AttributeType, OptionSet
from designer.definitions import InputDefinition

Reader: TypeAlias = Callable[[Any], Value]


class InvalidInput(ValueError):
    """A value that an input does not take: a stable `code` and a sentence that says what would be right."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Limits:
    """What an input's definition and the attribute it is bound to allow, the tighter of the two.

    Lengths count characters; `precision` counts decimal places; `options` are the values of the option set
    (None: any); `targets` are the entities a reference may point at (empty: none known).
    """

    minimum: Decimal | None = None
    maximum: Decimal | None = None
    min_length: int | None = None
    max_length: int | None = None
    precision: int | None = None
    pattern: str = ""
    allowed: tuple[Any, ...] = ()
    options: frozenset[int] | None = None
    targets: tuple[str, ...] = ()
    required: bool = False

    @classmethod
    def of(
        cls, definition: InputDefinition, attribute: Attribute | None = None, options: OptionSet | None = None
    ) -> Limits:
        """The limits of an input bound to `attribute`, a choice among `options`."""
        return cls(
            minimum=_tighter(max, definition.minimum, attribute.minimum if attribute else None),
            maximum=_tighter(min, definition.maximum, attribute.maximum if attribute else None),
            min_length=definition.min_length,
            max_length=_tighter(min, definition.max_length, attribute.max_length if attribute else None),
            precision=attribute.precision if attribute else None,
            pattern=definition.pattern,
            allowed=definition.allowed,
            options=frozenset(option.value for option in options.options) if options else None,
            targets=attribute.targets if attribute else (),
            required=definition.required,
        )


class InputType(Protocol):
    """A type of input. `constraints` names the InputDefinition fields that mean something for it."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def attribute_types(self) -> frozenset[AttributeType]:
        """The attribute types that an input of this type may be bound to."""
        ...

    @property
    def constraints(self) -> frozenset[str]: ...

    def compile(self, limits: Limits) -> Reader:
        """A function from a parsed JSON value (never None) to the value, raising InvalidInput.

        Raises ValueError when the limits themselves make no sense (a pattern that does not compile).
        """
        ...

    def schema(self, limits: Limits) -> dict[str, Any]:
        """The JSON Schema (2020-12) of what the reader takes."""
        ...


def _tighter(choose: Callable[..., Any], first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return choose(first, second)

"""Definitions in the bodies of requests, read into the values of `crmclient.metadata`.

A property that this server has no use for is passed over, as one that only people's forms need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.metadata.labels import read_label
from crmclient.errors import InvalidDefinition
from crmclient.metadata import Label, RequiredLevel

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Body:
    """One JSON object. `languages` are those of the organisation: a label in another one is refused."""

    values: Mapping[str, Any]
    languages: tuple[int, ...]

    @property
    def type_name(self) -> str:
        """What `@odata.type` says, without namespace and the `Complex` of parameters; '' without it."""
        text = str(self.values.get("@odata.type") or "").lstrip("#").rpartition(".")[2]
        return text.removeprefix("Complex")

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def text(self, name: str) -> str | None:
        return self._of(name, str, "a text")

    def needed(self, name: str) -> str:
        """Raises WebApiError when the text is missing or empty."""
        text = self.text(name)
        if not text:
            raise bad_payload(f"The property '{name}' is needed.")
        return text

    def flag(self, name: str, *, default: bool) -> bool:
        """Plain, or as a managed property's `Value`."""
        value = self._value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise bad_payload(f"The property '{name}' is true or false.")
        return value

    def whole(self, name: str) -> int | None:
        value = self.number(name)
        if value is None:
            return None
        if value != value.to_integral_value():
            raise bad_payload(f"The property '{name}' is a whole number.")
        return int(value)

    def number(self, name: str) -> Decimal | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise bad_payload(f"The property '{name}' is a number.")
        return Decimal(value)

    def texts(self, name: str) -> tuple[str, ...]:
        values: list[Any] = self._of(name, list, "a list") or []
        if not all(isinstance(value, str) for value in values):
            raise bad_payload(f"The property '{name}' is a list of texts.")
        return tuple(values)

    def label(self, name: str) -> Label:
        """Raises WebApiError, and InvalidDefinition for a language that the organisation lacks."""
        label = read_label(self.values.get(name))
        for lcid in label.texts:
            if lcid not in self.languages:
                raise InvalidDefinition(
                    f"The language code {lcid} is not a valid language for this organization."
                )
        return label

    def part(self, name: str) -> Body | None:
        """An object inside."""
        value = self._of(name, dict, "an object")
        return None if value is None else Body(value, self.languages)

    def parts(self, name: str) -> list[Body]:
        """The objects of a list inside; none without it."""
        values: list[Any] = self._of(name, list, "a list") or []
        if not all(isinstance(value, Mapping) for value in values):
            raise bad_payload(f"The property '{name}' is a list of objects.")
        return [Body(value, self.languages) for value in values]

    def word(self, name: str) -> str | None:
        """A text, plain or as `{"Value": …}`."""
        value = self._value(name)
        if value is not None and not isinstance(value, str):
            raise bad_payload(f"The property '{name}' is a text.")
        return value

    @property
    def required(self) -> RequiredLevel | None:
        word = self.word("RequiredLevel")
        try:
            return None if word is None else RequiredLevel(word)
        except ValueError:
            known = ", ".join(level.value for level in RequiredLevel)
            raise bad_payload(f"RequiredLevel is one of {known}.") from None

    def _value(self, name: str) -> Any:
        value = self.values.get(name)
        return value.get("Value") if isinstance(value, Mapping) else value

    def _of(self, name: str, type: type[Kind], what: str) -> Kind | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, type):
            raise bad_payload(f"The property '{name}' is {what}.")
        return value

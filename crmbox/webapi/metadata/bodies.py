"""Definitions in the bodies of requests, read into the values of `crmclient.metadata`.

A property that this server has no use for is passed over, as one that only people's forms need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeVar

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.metadata.items import metadata_id
from crmbox.webapi.metadata.label_bodies import read_label
from crmclient.errors import InvalidDefinition
from crmclient.metadata import Label, Option, OptionSet, RequiredLevel

FIRST_VALUE: Final = 100_000_000
"""The least value that is given to an option whose maker gives none."""

_MOST_PLACES: Final = 40
"""Digits of a number on either side of the point. No attribute has more."""

_BIND: Final = "GlobalOptionSet@odata.bind"
_WITH_NAME: Final = re.compile(r"GlobalOptionSetDefinitions\(Name='([^']+)'\)$").search
_WITH_ID: Final = re.compile(r"GlobalOptionSetDefinitions\(([0-9a-fA-F-]{36})\)$").search


def read_option_set(body: Body) -> OptionSet:
    """Read a new global option set. Raises WebApiError and InvalidDefinition."""
    name = body.needed("Name").lower()
    return OptionSet(name, body.label("DisplayName"), read_options(body))


def read_options(body: Body) -> tuple[Option, ...]:
    """Read options. Those without a value get the next free ones. Raises as `read_option_set`."""
    options: list[Option] = []
    for item in body.parts("Options"):
        value = item.whole("Value")
        options.append(
            Option(
                next_value(options) if value is None else value,
                item.label("Label"),
                item.text("Color") or None,
                item.flag("IsHidden", default=False),
            )
        )
    return tuple(options)


def next_value(options: list[Option]) -> int:
    """Return the value that an option gets after these: one more than the largest from FIRST_VALUE on."""
    return max((option.value + 1 for option in options if option.value >= FIRST_VALUE), default=FIRST_VALUE)


def global_set(body: Body, names: Iterable[str]) -> str | None:
    """Return the name of the global option set that a choice uses; None if it has options of its own.

    The set is bound, or named by an OptionSet with IsGlobal. `names` are those of all global option sets.
    Raises WebApiError.
    """
    bound = body.text(_BIND)
    if bound is None:
        described = body.part("OptionSet")
        if described is None or not described.flag("IsGlobal", default=False) or "Name" not in described:
            return None
        return described.needed("Name").lower()
    if name_match := _WITH_NAME(bound):
        return name_match[1].lower()
    id_match = _WITH_ID(bound)
    for name in names:
        if id_match and metadata_id("optionset", name) == id_match[1].lower():
            return name
    raise bad_payload(f"{_BIND}: '{bound}' leads to no global option set.")


Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Body:
    """A JSON object of a body.

    `languages` are those of the organisation: a label in another one is refused.
    """

    values: Mapping[str, Any]
    languages: tuple[int, ...]

    @property
    def type_name(self) -> str:
        """Return the type in `@odata.type`, without its namespace and the `Complex` of parameters.

        Without `@odata.type` it is empty.
        """
        text = str(self.values.get("@odata.type") or "").lstrip("#").rpartition(".")[2]
        return text.removeprefix("Complex")

    def __contains__(self, name: str) -> bool:
        """Whether the body has a property. One that is null counts as missing."""
        return self.values.get(name) is not None

    def text(self, name: str) -> str | None:
        """Return a text; None without it. Raises WebApiError for another type."""
        return self._of_type(name, str, "a text")

    def needed(self, name: str) -> str:
        """Return a text. Raises WebApiError if it is missing or empty."""
        text = self.text(name)
        if not text:
            raise bad_payload(f"The property '{name}' is needed.")
        return text

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a boolean, which is plain or the `Value` of a managed property. Raises WebApiError."""
        value = self._value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise bad_payload(f"The property '{name}' is true or false.")
        return value

    def whole(self, name: str) -> int | None:
        """Return a whole number; None without it. Raises WebApiError for anything else."""
        value = self.number(name)
        if value is None:
            return None
        if value != value.to_integral_value():
            raise bad_payload(f"The property '{name}' is a whole number.")
        return int(value)

    def number(self, name: str) -> Decimal | None:
        """Return a number; None without it. Raises WebApiError for anything else."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise bad_payload(f"The property '{name}' is a number.")
        number = Decimal(value)
        # Written without an exponent, a number such as 1E+999999999 fills the memory.
        if abs(number.adjusted()) > _MOST_PLACES:
            raise bad_payload(f"The property '{name}' is a number of at most {_MOST_PLACES} digits.")
        return number

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a list; none without it. Raises WebApiError for anything else."""
        values: list[Any] = self._of_type(name, list, "a list") or []
        if not all(isinstance(value, str) for value in values):
            raise bad_payload(f"The property '{name}' is a list of texts.")
        return tuple(values)

    def label(self, name: str) -> Label:
        """Return a label.

        Raises WebApiError, and InvalidDefinition for a language that the organisation lacks.
        """
        label = read_label(self.values.get(name))
        for lcid in label.texts:
            if lcid not in self.languages:
                raise InvalidDefinition(
                    f"The language code {lcid} is not a valid language for this organization."
                )
        return label

    def part(self, name: str) -> Body | None:
        """Return the object of a property; None without one. Raises WebApiError."""
        value = self._of_type(name, dict, "an object")
        return None if value is None else Body(value, self.languages)

    def parts(self, name: str) -> list[Body]:
        """Return the objects of a list; none without it. Raises WebApiError for anything else."""
        values: list[Any] = self._of_type(name, list, "a list") or []
        if not all(isinstance(value, Mapping) for value in values):
            raise bad_payload(f"The property '{name}' is a list of objects.")
        return [Body(value, self.languages) for value in values]

    def word(self, name: str) -> str | None:
        """Return a text, which is plain or `{"Value": …}`; None without it. Raises WebApiError."""
        value = self._value(name)
        if value is not None and not isinstance(value, str):
            raise bad_payload(f"The property '{name}' is a text.")
        return value

    @property
    def required(self) -> RequiredLevel | None:
        """The level in which an attribute is required; None if the body does not say. Raises WebApiError."""
        word = self.word("RequiredLevel")
        try:
            return None if word is None else RequiredLevel(word)
        except ValueError:
            choices = ", ".join(level.value for level in RequiredLevel)
            raise bad_payload(f"RequiredLevel is one of {choices}.") from None

    def _value(self, name: str) -> Any:
        """Return a property that may be written plain or as `{"Value": …}`."""
        value = self.values.get(name)
        return value.get("Value") if isinstance(value, Mapping) else value

    def _of_type(self, name: str, type: type[Kind], wanted: str) -> Kind | None:
        """Return a property of `type`; None without it. `wanted` names the type in the error."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, type):
            raise bad_payload(f"The property '{name}' is {wanted}.")
        return value

"""Option sets in the bodies of requests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.metadata.bodies import Body
from crmbox.webapi.metadata.ids import metadata_id
from crmclient.metadata import Option, OptionSet

FIRST_VALUE: Final = 100_000_000
"""The least value that is given to an option whose maker gives none."""

_BIND: Final = "GlobalOptionSet@odata.bind"
_NAMED: Final = re.compile(r"GlobalOptionSetDefinitions\(Name='([^']+)'\)$").search
_WITH_ID: Final = re.compile(r"GlobalOptionSetDefinitions\(([0-9a-fA-F-]{36})\)$").search


def read_option_set(body: Body) -> OptionSet:
    """A new global option set. Raises WebApiError, InvalidDefinition."""
    name = body.needed("Name").lower()
    return OptionSet(name, body.label("DisplayName"), read_options(body))


def read_options(body: Body) -> tuple[Option, ...]:
    """Options without a value get the next ones."""
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
    return max((option.value + 1 for option in options if option.value >= FIRST_VALUE), default=FIRST_VALUE)


def global_set(body: Body, known: Iterable[str]) -> str | None:
    """Which of the global option sets `known` a choice is to use, None for options of its own.

    It is bound, or named by an OptionSet that says it is global. Raises WebApiError.
    """
    bound = body.text(_BIND)
    if bound is None:
        described = body.part("OptionSet")
        if described is None or not described.flag("IsGlobal", default=False) or "Name" not in described:
            return None
        return described.needed("Name").lower()
    if named := _NAMED(bound):
        return named[1].lower()
    with_id = _WITH_ID(bound)
    for name in known:
        if with_id and metadata_id("optionset", name) == with_id[1].lower():
            return name
    raise bad_payload(f"{_BIND}: '{bound}' leads to no global option set.")

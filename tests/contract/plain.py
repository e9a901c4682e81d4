"""Plain tables under the demo's names, and what they lack of all that tests need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar, cast

import pytest

from crmclient.conventions import EVERYTHING
from crmclient.errors import PlatformError, UnknownKey
from crmclient.stand_in import MemberCall, StandIn
from tests.plain_tables.tables import CONVENTIONS

R = TypeVar("R")

PLAIN: Final = "plain"

NAMES: Final[Mapping[str, str]] = {
    "account": "firm",
    "accountid": "firm_key",
    "name": "title",
    "accountnumber": "number",
    "telephone1": "phone",
    "fax": "telefax",
    "sic": "branch",
    "description": "remarks",
    "numberofemployees": "staff",
    "revenue": "turnover",
    "new_discount": "rebate",
    "new_legacynumber": "legacy",
    "address1_latitude": "latitude",
    "donotemail": "muted",
    "new_customersince": "since",
    "industrycode": "line",
    "statecode": "stage",
    "primarycontactid": "boss",
    "parentaccountid": "parent",
    "ownerid": "keeper",
    "createdby": "made_by",
    "createdon": "made_at",
    "versionnumber": "edition",
    "contact": "person",
    "contactid": "person_key",
    "firstname": "given",
    "lastname": "family",
    "fullname": "called",
    "parentcustomerid": "employer",
    "systemuser": "member",
    "systemuserid": "member_key",
}
_BACK: Final = {plain: name for name, plain in NAMES.items()}

# Fields of queries, values and metadata that hold a name.
_NAMED: Final = frozenset({"entity", "attribute", "alias", "from_attribute", "to_attribute", "logical_name"})

# Cases of tests that are about one of these attributes.
_LACKING: Final = frozenset({"new_interests", "new_priority", "new_contract", "statuscode"})

# What plain tables do not have, of all that tests say they need.
LACKS: Final = frozenset(
    {
        *(EVERYTHING - CONVENTIONS.abilities),
        *(
            "activities",
            "files",
            "party lists",
            "processes",
            "views",
            "hierarchies",
            "business units",
            "teams",
        ),
        *("leads", "the demo's languages and roles", "the demo's users", "a status beside the state"),
        *("many-to-many relationships", "lookups of several entities", "multi-select choices"),
        *("moments that are given", "what has changed since a mark"),
    }
)


class Renamed(StandIn):
    """The platform behind it under the demo's names, as tests write them."""

    def answer(self, member_call: MemberCall, ask: Callable[[], R]) -> R:
        arguments = [_argument(value) for value in member_call.arguments]
        options = {name: _argument(value) for name, value in member_call.options.items()}
        try:
            response = getattr(self._platform, member_call.member)(*arguments, **options)
        except PlatformError as error:
            _rename_error(error)
            raise
        return cast(R, _renamed(response, _BACK))


def is_beyond(item: pytest.Item) -> bool:
    """Whether a test would ask plain tables for what they do not declare."""
    call: Any = getattr(item, "callspec", None)
    if call is None or call.params.get("platform") != PLAIN:
        return False
    needed = {feature for marker in item.iter_markers("needs") for feature in marker.args}
    named = {name for value in call.params.values() for name in _names(value)}
    return not needed.isdisjoint(LACKS) or not named.isdisjoint(_LACKING)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for one in fields(value):
            yield from _names(getattr(value, one.name))
    elif isinstance(value, (tuple, list)):
        for inner in value:
            yield from _names(inner)


def _argument(value: Any) -> Any:
    """Texts given as an argument, alone or in a list, are names (or ids, which are none)."""
    if isinstance(value, str):
        return NAMES.get(value, value)
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value):
        return [NAMES.get(name, name) for name in value]
    return _renamed(value, NAMES)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(inner, names) for key, inner in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_renamed(inner, names) for inner in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for one in fields(value):
        held = getattr(value, one.name)
        if one.name in _NAMED and isinstance(held, str):
            changed[one.name] = names.get(held, held)
        elif one.name == "value_of" and held is not None:
            changed[one.name] = (held[0], names.get(held[1], held[1]))
        else:
            changed[one.name] = _renamed(held, names)
    return replace(value, **changed)


def _rename_error(error: PlatformError) -> None:
    for name in ("entity", "key"):
        if hasattr(error, name):
            setattr(error, name, _BACK.get(getattr(error, name), getattr(error, name)))
    if isinstance(error, UnknownKey):
        error.attributes = tuple(_BACK.get(name, name) for name in error.attributes)
    for problem in getattr(error, "problems", ()):
        problem.attribute = _BACK.get(problem.attribute, problem.attribute)

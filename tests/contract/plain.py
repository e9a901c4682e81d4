"""Plain tables under the demo's names, and which tests are about what plain tables do not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar, cast

import pytest

from crmclient.errors import PlatformError, UnknownKey
from crmclient.stand_in import MemberCall, StandIn

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

# Modules and tests, and what it is in each that plain tables do not have.
_BEYOND: Final[Mapping[str, str]] = {
    "test_aggregates": "aggregates",
    "test_files": "files",
    "test_processes": "processes",
    "test_views": "views",
    "test_activities": "activities",
    "test_duplicates": "duplicate detection",
    "test_parties": "party lists",
    "test_record_changes": "what has changed since a mark",
    "test_records_are_tied_from_either_end": "many-to-many relationships",
    "test_tying_and_untying_twice_is_doing_it_once": "many-to-many relationships",
    "test_neither_record_changes": "many-to-many relationships",
    "test_a_record_that_is_not_there_is_named": "many-to-many relationships",
    "test_who_is_no_user_may_not_tie": "many-to-many relationships",
    "test_many_to_many_through_the_intersect": "many-to-many relationships",
    "test_languages_and_security_roles": "the demo's languages and roles",
    "test_every_user": "the demo's users",
    "test_a_record_is_made_by_whom_the_call_is_for": "the demo's users",
    "test_the_revision_stays_while_nothing_changes": "leads",
    "test_a_business_unit_that_is_needed": "business units",
    "test_an_owner_may_be_a_user_or_a_team": "teams",
    "test_a_polymorphic_lookup_says_what_it_points_at": "lookups of several entities",
    "test_a_state_brings_its_status": "a status beside the state",
    "test_a_moment_comes_back_in_utc": "moments that are given",
    "test_every_type_of_column_has_its_value": "multi-select choices",
    "test_an_empty_text_and_an_empty_choice_are_empty_values": "multi-select choices",
    "test_pages_in_the_order_of_a_link": "links",
    "test_the_count_of_links_and_of_nothing": "links",
    "test_links_bring_columns_and_filters": "links",
    "test_a_link_without_partner_is_empty_or_no_row": "links",
    "test_conditions_and_orders_may_name_a_link": "links",
    "test_links_that_join_nothing_keep_what_they_say": "links",
    "test_one_record_of_several_is_joined": "links",
    "test_hierarchies": "hierarchies",
    "test_the_records_of_a_fiscal_period_of_any_year": "fiscal periods",
    "test_pages_of_distinct_rows": "distinct rows",
    "test_distinct_rows": "distinct rows",
}


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
    named = {name for value in call.params.values() for name in _names(value)}
    names = (getattr(item, "originalname", ""), item.path.stem)
    return not _BEYOND.keys().isdisjoint(names) or not named.isdisjoint(_LACKING)


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

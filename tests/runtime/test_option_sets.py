"""Option sets, global and local, in several languages."""

from __future__ import annotations

import pytest

from designer.loading import latest
from designer.models import Endpoint, Role
from designer.platform import get_platform
from designer.readiness import Checker, Metadata
from tests.callers import Caller

PRIORITIES = "/optionsets/priorities"
INDUSTRIES = "/sales/accounts/optionsets/industries"


def _names(answer: object) -> list[str]:
    assert answer.status_code == 200, answer.content  # type: ignore[attr-defined]
    return [option["name"] for option in answer.json()]  # type: ignore[attr-defined]


def _settings(**changes: object) -> None:
    endpoint = Endpoint.objects.get(kind="option-set", name="priorities")
    endpoint.settings = {**endpoint.settings, **changes}
    endpoint.save()


def test_an_option_has_a_name_and_a_value_and_nothing_else(anonymous: Caller) -> None:
    answer = anonymous.get(PRIORITIES)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert all(option.keys() == {"name", "value"} for option in answer.json())
    assert all(type(option["value"]) is int for option in answer.json())


def test_names_come_in_the_language_asked_for(anonymous: Caller) -> None:
    english = _names(anonymous.get(PRIORITIES))
    arabic = _names(anonymous.get(f"{PRIORITIES}?lcid=1025"))
    assert len(arabic) == len(english) > 1
    assert all("\u0600" <= name[0] <= "\u06ff" for name in arabic)
    assert english == _names(anonymous.get(f"{PRIORITIES}?lcid=1033"))
    assert all(name.isascii() for name in english)


@pytest.mark.parametrize("lcid", [1036, 1031, 1034, 2052, 1041])
def test_every_language_of_the_set_has_its_own_names(anonymous: Caller, lcid: int) -> None:
    assert _names(anonymous.get(f"{PRIORITIES}?lcid={lcid}")) != _names(anonymous.get(PRIORITIES))


def test_an_unknown_language_falls_back_to_english(anonymous: Caller) -> None:
    assert _names(anonymous.get(f"{PRIORITIES}?lcid=1049")) == _names(anonymous.get(PRIORITIES))


def test_accept_language_changes_nothing(anonymous: Caller) -> None:
    assert _names(anonymous.get(PRIORITIES, accept_language="ar")) == _names(anonymous.get(PRIORITIES))


@pytest.mark.parametrize("lcid", ["abc", "1033.0", "-1", "0x409", "1033 or 1=1", "١٠٣٣", "9" * 30])
def test_an_lcid_that_is_no_whole_number_is_refused(anonymous: Caller, lcid: str) -> None:
    answer = anonymous.get(f"{PRIORITIES}?lcid={lcid}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["parameter"] == "lcid"


def test_parameters_are_matched_without_case_and_an_empty_one_is_absent(anonymous: Caller) -> None:
    assert _names(anonymous.get(f"{PRIORITIES}?LCID=1025")) == _names(
        anonymous.get(f"{PRIORITIES}?lcid=1025")
    )
    assert _names(anonymous.get(f"{PRIORITIES}?lcid=")) == _names(anonymous.get(PRIORITIES))


@pytest.mark.parametrize("query", ["lcid=1033&lcid=1025", "lcid=1033&LCID=1033", "language=1033", "lcid=%ff"])
def test_unknown_repeated_and_garbled_parameters_are_refused(anonymous: Caller, query: str) -> None:
    assert anonymous.get(f"{PRIORITIES}?{query}").status_code == 400


def test_the_inactive_option_appears_only_when_it_is_included(anonymous: Caller) -> None:
    without = anonymous.get(PRIORITIES).json()
    _settings(include_inactive=True)
    included = anonymous.get(PRIORITIES).json()
    assert len(included) == len(without) + 1
    assert [option for option in included if option in without] == without


def test_a_filter_keeps_or_leaves_out_values(anonymous: Caller) -> None:
    values = [option["value"] for option in anonymous.get(PRIORITIES).json()]
    _settings(filter={"mode": "keep", "values": values[:1]})
    assert [option["value"] for option in anonymous.get(PRIORITIES).json()] == values[:1]
    _settings(filter={"mode": "leave_out", "values": values[:1]})
    assert [option["value"] for option in anonymous.get(PRIORITIES).json()] == values[1:]


def test_a_filter_may_be_an_expression_over_the_option(anonymous: Caller) -> None:
    options = anonymous.get(PRIORITIES).json()
    _settings(filter={"mode": "expression", "expression": f"value != {options[0]['value']} && label != ''"})
    assert anonymous.get(PRIORITIES).json() == options[1:]


@pytest.mark.parametrize("expression", ["label.size() > 'x'", "value / 0 == 1", "value"])
def test_a_filter_that_fails_for_an_option_is_found_and_not_served(
    anonymous: Caller, expression: str
) -> None:
    """One that gives no truth value fails for none: it keeps no option."""
    _settings(filter={"mode": "expression", "expression": expression})
    answer = anonymous.get(PRIORITIES)
    row = Endpoint.objects.get(kind="option-set", name="priorities")
    findings = Checker(latest(), Metadata(get_platform())).endpoint(row.pk)
    blocked = any(finding.rule == "option-filter-expression" for finding in findings if finding.is_blocking)
    assert (blocked, answer.status_code) == ((True, 503) if expression != "value" else (False, 200))


def test_a_local_option_set_lists_the_attributes_options(anonymous: Caller) -> None:
    industries = {option["value"]: option["name"] for option in anonymous.get(INDUSTRIES).json()}
    assert industries[1] == "Accounting"
    german = {option["value"]: option["name"] for option in anonymous.get(f"{INDUSTRIES}?lcid=1031").json()}
    assert german[1] != "Accounting"


def test_public_option_sets_may_be_cached_and_are_revalidated(anonymous: Caller) -> None:
    first = anonymous.get(PRIORITIES)
    assert first["Cache-Control"] == "public, no-cache"
    again = anonymous.get(PRIORITIES, if_none_match=first["ETag"])
    assert again.status_code == 304
    assert again.content == b""
    assert anonymous.get(f"{PRIORITIES}?lcid=1025", if_none_match=first["ETag"]).status_code == 200


def test_an_option_set_may_ask_for_roles_like_any_endpoint(
    anonymous: Caller, rita: Caller, aya: Caller
) -> None:
    endpoint = Endpoint.objects.get(kind="option-set", name="priorities")
    endpoint.authentication_required = True
    endpoint.save()
    endpoint.roles.set([Role.objects.get(name="support")])
    assert anonymous.get(PRIORITIES).status_code == 401
    assert rita.get(PRIORITIES).status_code == 403
    answer = aya.get(PRIORITIES)
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "private, no-cache"

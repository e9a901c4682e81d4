"""What a change means to callers: additive, behaviour or breaking, in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from designer.history.effects import Effect, worst
from designer.history.wording import lines

A, B, X = Effect.ADDITIVE, Effect.BEHAVIOUR, Effect.BREAKING
ENDPOINT = {"kind": "create", "module": "shop", "exposure": "things"}


def _input(**values: Any) -> dict[str, Any]:
    return {"inputs": [{"name": "phone", **values}]}


def _access(*roles: str, required: bool = True) -> dict[str, Any]:
    return {"access": {"authentication_required": required, "roles": list(roles)}}


def _settings(**values: Any) -> dict[str, Any]:
    return {"settings": values}


def _of_kind(kind: str, **values: Any) -> dict[str, Any]:
    """An endpoint whose kind has such settings: each kind says how its own are told."""
    return {"kind": kind, **_settings(**values)}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, Effect]] = {
    "fewer calls": (
        _of_kind("associate"),
        _of_kind("associate", calls="associate"),
        "calls: associate and disassociate → associate only",
        X,
    ),
    "more calls": (
        _of_kind("associate", calls="disassociate"),
        _of_kind("associate", calls="both"),
        "calls: disassociate only → associate and disassociate",
        A,
    ),
    "another relationship": (
        _of_kind("associate", relationship="a_b"),
        _of_kind("associate", relationship="a_c"),
        "relationship: “a_b” → “a_c”",
        X,
    ),
    "another related entity": (
        _of_kind("associate", related="topics"),
        _of_kind("associate", related="lists"),
        "related entity: “topics” → “lists”",
        B,
    ),
    "title": ({"title": "A"}, {"title": "B"}, "title: “A” → “B”", A),
    "description": ({}, {"description": "B"}, "description changed", A),
    "switched off": ({}, {"enabled": False}, "switched off: it is no longer served", X),
    "switched on": ({"enabled": False}, {}, "switched on", A),
    "required": (_input(), _input(required=True), "input “phone”: became required", X),
    "optional": (_input(required=True), _input(), "input “phone”: is no longer required", A),
    "no null": (_input(), _input(nullable=False), "input “phone”: may no longer be null", X),
    "type": (_input(), _input(type="Integer"), "input “phone”: type: – → “Integer”", X),
    "shorter": (
        _input(max_length=50),
        _input(max_length=40),
        "input “phone”: maximum length: 50 → 40",
        X,
    ),
    "longer": (_input(max_length=40), _input(max_length=50), "input “phone”: maximum length: 40 → 50", A),
    "no limit": (_input(max_length=40), _input(), "input “phone”: maximum length: 40 → –", A),
    "larger least": (
        _input(minimum="9.5"),
        _input(minimum="10"),
        "input “phone”: smallest number: “9.5” → “10”",
        X,
    ),
    "pattern": (_input(), _input(pattern="a+"), "input “phone”: pattern: – → “a+”", X),
    "fewer values": (
        _input(allowed=["a", "b"]),
        _input(allowed=["a"]),
        'input “phone”: allowed values: ["a", "b"] → ["a"]',
        X,
    ),
    "more values": (
        _input(allowed=["a"]),
        _input(allowed=["a", "b"]),
        'input “phone”: allowed values: ["a"] → ["a", "b"]',
        A,
    ),
    "default": (_input(), _input(default="x"), "input “phone”: default: – → “x”", B),
    "default of a required input removed": (
        _input(required=True, default="x"),
        _input(required=True),
        "input “phone”: default: “x” → –",
        X,
    ),
    "default of a required input changed": (
        _input(required=True, default="x"),
        _input(required=True, default="y"),
        "input “phone”: default: “x” → “y”",
        B,
    ),
    "default that an update never used removed": (
        {"kind": "update", **_input(required=True, default="x")},
        {"kind": "update", **_input(required=True)},
        "input “phone”: default: “x” → –",
        B,
    ),
    "required input with a default added": ({}, _input(required=True, default="x"), "input “phone” added", A),
    "required input with a default added to an update": (
        {"kind": "update"},
        {"kind": "update", **_input(required=True, default="x")},
        "input “phone” added",
        X,
    ),
    "input added": ({}, _input(), "input “phone” added", A),
    "required input added": ({}, _input(required=True), "input “phone” added", X),
    "input removed": (_input(), {}, "input “phone” removed", X),
    "of a list": (
        _input(type="List", inputs=[{"name": "sku"}]),
        _input(type="List", inputs=[{"name": "sku", "required": True}]),
        "phone › input “sku”: became required",
        X,
    ),
    "bound elsewhere": (
        {"bindings": [{"attribute": "name", "value": "a"}]},
        {"bindings": [{"attribute": "name", "value": "b"}]},
        "attribute “name”: value: “a” → “b”",
        B,
    ),
    "column added": ({}, {"columns": [{"attribute": "name"}]}, "column “name” added", A),
    "column removed": ({"columns": [{"attribute": "name"}]}, {}, "column “name” removed", X),
    "authentication": (_access(required=False), _access(), "authentication became required", X),
    "anonymous": (_access(), _access(required=False), "anyone may call, without a token", B),
    "first role": (_access(), _access("buyer"), "role “buyer” may call", X),
    "second role": (_access("a"), _access("a", "b"), "role “b” may call", A),
    "role taken": (_access("a", "b"), _access("a"), "role “b” taken away", X),
    "row rule": ({}, {"row_rule": "<filter/>"}, "row rule added: callers may reach fewer records", B),
    "pre-condition": ({}, {"preconditions": [{"expression": "true"}]}, "pre-condition “true” added", X),
    "If-Match": (
        {"kind": "update"},
        _of_kind("update", require_if_match=True),
        "If-Match became required",
        X,
    ),
    "labels": (
        _of_kind("read", labels=True),
        {"kind": "read"},
        "labels of options are no longer answered",
        X,
    ),
    "process": (
        _of_kind("action", process="new_Ping"),
        _of_kind("action", process="new_Approve"),
        "process: “new_Ping” → “new_Approve”",
        X,
    ),
    "outside the rule": (
        {},
        _settings(may_create_outside_rule=True),
        "records may be created outside the row rule",
        B,
    ),
    "kind that is gone": (
        _of_kind("gone", process="new_Ping"),
        {"kind": "gone"},
        "process: “new_Ping” → –",
        B,
    ),
    "other setting": (_settings(size=1), _settings(size=2), "size: 1 → 2", B),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_told_with_its_meaning(case: str) -> None:
    before, after, text, effect = CASES[case]
    told = lines("endpoints", {**ENDPOINT, **before}, {**ENDPOINT, **after})
    assert [(line.text, line.effect) for line in told] == [(text, effect)]


def test_an_endpoint_that_goes_breaks_its_callers_and_a_draft_has_none() -> None:
    assert lines("endpoints", ENDPOINT, None)[0].effect is X
    assert lines("endpoints", {**ENDPOINT, "enabled": False}, None)[0].effect is A
    assert lines("endpoints", None, ENDPOINT)[0].effect is A


def test_what_another_release_recorded_is_told_by_its_bare_differences() -> None:
    told = lines("inventions", {"a": {"b": 1}}, {"a": {"b": 2}, "c": "new"})
    assert [line.text for line in told] == ["a.b: 1 → 2", "c: – → “new”"]


def test_the_most_serious_effect_counts() -> None:
    assert worst([A, X, B]) is X
    assert worst([]) is A


SALES = {"value": "Sales", "role": "sales-rep"}
BOSS = {"value": "Sales Lead", "role": "manager"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([], [{"claim": "roles", "grants": [SALES]}], ["role rule for “roles” added: Sales → sales-rep"]),
        ([{"claim": "roles"}], [], ["role rule for “roles” removed: no role"]),
        (
            [{"claim": "roles", "grants": [SALES]}],
            [{"claim": "roles", "grants": [BOSS], "shape": "words"}],
            [
                "role rule for “roles”: it reads words, and read an array, or words",
                "role rule for “roles”: Sales → sales-rep removed",
                "role rule for “roles”: Sales Lead → manager added",
            ],
        ),
        (
            [{"claim": "scp", "grants": [SALES]}],
            [{"claim": "scp", "grants": [SALES], "as_named": True}],
            ["role rule for “scp”: it gives each value as a role, and gave Sales → sales-rep"],
        ),
        # Two rules may read one claim.
        (
            [{"claim": "roles", "grants": [SALES]}],
            [{"claim": "roles", "grants": [SALES]}, {"claim": "roles", "grants": [BOSS]}],
            ["role rule for “roles (2)” added: Sales Lead → manager"],
        ),
        ([{"claim": "a"}, {"claim": "b"}], [{"claim": "b"}, {"claim": "a"}], ["role rules in another order"]),
        (
            [{"claim": "roles", "grants": [SALES, BOSS]}],
            [{"claim": "roles", "grants": [BOSS, SALES]}],
            ["role rule for “roles”: values and roles in another order"],
        ),
        (
            [{"claim": "roles", "grants": [SALES, SALES, BOSS]}],
            [{"claim": "roles", "grants": [SALES, BOSS, BOSS]}],
            [
                "role rule for “roles”: a duplicate of Sales → sales-rep removed",
                "role rule for “roles”: a duplicate of Sales Lead → manager added",
            ],
        ),
        # Of two rules for one claim, the one that is left has not become the other.
        (
            [{"claim": "roles", "grants": [SALES]}, {"claim": "roles", "grants": [BOSS]}],
            [{"claim": "roles", "grants": [BOSS]}],
            ["role rule for “roles” removed: Sales → sales-rep"],
        ),
        (
            [{"claim": "roles", "grants": [BOSS]}],
            [{"claim": "roles", "grants": [SALES]}, {"claim": "roles", "grants": [BOSS]}],
            ["role rule for “roles” added: Sales → sales-rep"],
        ),
        (
            [{"claim": "roles", "grants": [SALES]}, {"claim": "roles", "grants": [BOSS]}],
            [{"claim": "roles", "grants": [BOSS]}, {"claim": "roles", "grants": [SALES]}],
            ["role rules in another order"],
        ),
        (None, [{"claim": "roles", "as_named": True}], ["role rule for “roles” added: each value as a role"]),
    ],
)
def test_role_rules_of_issuers_are_told_in_words(before: Any, after: Any, said: list[str]) -> None:
    issuer = {"name": "Customers", "issuer": "https://customers.example"}
    old = issuer if before is None else {**issuer, "role_rules": before}
    entries = lines("issuers", old, {**issuer, "role_rules": after})
    assert [line.text for line in entries] == said


@pytest.mark.parametrize(
    ("shape", "grants", "effect"),
    [
        ({}, [SALES], A),
        ({"shape": "words"}, [BOSS], A),
        # A text that a grant names is one value, and not two words.
        ({}, [BOSS], B),
    ],
)
def test_grants_change_nothing_where_each_value_is_a_role(shape: Any, grants: Any, effect: Effect) -> None:
    def issuer(grants: Any) -> Any:
        rule = {"claim": "roles", "as_named": True, "grants": grants, **shape}
        return {"name": "Customers", "issuer": "https://customers.example", "role_rules": [rule]}

    assert [line.effect for line in lines("issuers", issuer([]), issuer(grants))] == [effect]
    assert [line.effect for line in lines("issuers", issuer(grants), issuer([]))] == [effect]

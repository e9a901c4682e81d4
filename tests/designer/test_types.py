"""Input types: what they take, what they refuse, and that nothing is lost on the way."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import jiter
import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from crmclient import Reference
from designer.definitions import InputDefinition
from designer.sentences import Sentence, said
from designer.types import TYPES, InvalidInput, Limits
from runtime.http.rendering import render

UNBOUND = Limits()
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def _read(type_name: str, raw: Any, **limits: Any) -> Any:
    return TYPES[type_name].compile(Limits(**limits))(raw)


@given(type_name=st.sampled_from(sorted(TYPES)), raw=_JSON.filter(lambda value: value is not None))
def test_whatever_is_sent_is_read_or_refused_and_never_crashes(type_name: str, raw: Any) -> None:
    try:
        value = _read(type_name, raw, targets=("account", "contact"), options=frozenset({1, 2}))
    except InvalidInput as error:
        value = (error.code and error.message) or None
    assert value is not None


@given(
    type_name=st.sampled_from(sorted(TYPES)),
    raw=_JSON.filter(lambda value: value is not None),
    limits=st.sampled_from(({}, {"minimum": Decimal(1000)}, {"maximum": Decimal(-1000)})),
)
def test_whatever_is_refused_is_a_sentence_that_can_be_said_in_other_languages(
    type_name: str, raw: Any, limits: dict[str, Any]
) -> None:
    message: str = Sentence("It is read.")
    try:
        _read(type_name, raw, targets=("account", "contact"), options=frozenset({1, 2}), **limits)
    except InvalidInput as error:
        message = error.message
    assert isinstance(message, Sentence), message


def test_what_is_allowed_is_said_in_german() -> None:
    with pytest.raises(InvalidInput) as refused:
        _read("Integer", 3, allowed=(1, 2))
    assert refused.value.message == "Must be one of: 1, 2."
    with override("de"):
        assert said(refused.value.message) == "Muss einer dieser Werte sein: 1, 2."


@given(amount=st.integers(-(2**63), 2**63 - 1))
def test_money_keeps_every_digit_from_json_to_json(amount: int) -> None:
    text = format(Decimal(amount).scaleb(-4), "f")
    raw = jiter.from_json(f'{{"revenue": {text}}}'.encode(), float_mode="decimal")["revenue"]
    value = _read("Money", raw)
    assert value == Decimal(text)
    assert _read("Money", text) == value
    assert Decimal(render(value).decode()) == value


@pytest.mark.parametrize(
    "raw", ["1e3", " 1", "1 ", "+1", "01", ".5", "5.", "NaN", "Infinity", "१", "", "1" * 65]
)
def test_a_string_that_is_no_plain_numeral_is_no_money(raw: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        _read("Money", raw)
    assert refused.value.code == "wrong_type"


def test_decimals_are_never_rounded() -> None:
    assert _read("Decimal", "1.2500", precision=2) == Decimal("1.25")
    with pytest.raises(InvalidInput, match="At most 2 decimal places"):
        _read("Decimal", "1.255", precision=2)


def test_the_tighter_of_input_and_attribute_counts() -> None:
    definition = InputDefinition(name="phone", max_length=200, minimum=Decimal(5))
    assert Limits.of(definition).max_length == 200
    from crmclient.metadata import Attribute, AttributeType

    attribute = Attribute("telephone1", AttributeType.STRING, max_length=50, minimum=Decimal(1))
    limits = Limits.of(definition, attribute)
    assert limits.max_length == 50
    assert limits.minimum == 5


@pytest.mark.parametrize("raw", [True, "1", 1.0, Decimal("1.0"), [1]])
def test_an_integer_is_a_whole_json_number(raw: Any) -> None:
    with pytest.raises(InvalidInput):
        _read("Integer", raw)


def test_a_large_integer_may_come_as_a_string() -> None:
    assert _read("BigInt", "9223372036854775807") == 2**63 - 1
    with pytest.raises(InvalidInput) as refused:
        _read("BigInt", 2**63)
    assert refused.value.code == "out_of_range"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("2026-01-31T12:00:00Z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
        ("2026-01-31T12:00:00+02:00", dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)),
        ("2026-01-31t12:00:00.999z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
    ],
)
def test_an_instant_is_kept_in_utc_and_whole_seconds(raw: str, value: dt.datetime) -> None:
    assert _read("DateTime", raw) == value


@pytest.mark.parametrize(
    "raw",
    [
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-02-30T00:00:00Z",
        "1752-12-31T00:00:00Z",
        "2026-W05-6T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        1769860800,
    ],
)
def test_what_is_no_instant_is_refused(raw: Any) -> None:
    with pytest.raises(InvalidInput):
        _read("DateTime", raw)


@pytest.mark.parametrize("raw", ["20260131", "2026-1-31", "2026-02-30", "2026-01-31T00:00:00Z", 20260131])
def test_what_is_no_date_is_refused(raw: Any) -> None:
    with pytest.raises(InvalidInput):
        _read("Date", raw)


def test_options_outside_the_set_are_refused() -> None:
    assert _read("OptionSet", 2, options=frozenset({1, 2})) == 2
    with pytest.raises(InvalidInput) as refused:
        _read("OptionSet", 3, options=frozenset({1, 2}))
    assert refused.value.code == "unknown_option"


def test_several_options_ascend_and_stand_once() -> None:
    assert _read("MultiOptionSet", [3, 1], options=frozenset({1, 2, 3})) == (1, 3)
    with pytest.raises(InvalidInput) as refused:
        _read("MultiOptionSet", [1, 1], options=frozenset({1}))
    assert refused.value.code == "repeated"


def test_a_reference_names_its_type_only_where_several_are_possible() -> None:
    id = "7d0e9c54-36ab-4d6b-9f0e-1c2d3e4f5a6b"
    assert _read("EntityReference", "{" + id.upper() + "}", targets=("contact",)) == Reference("contact", id)
    both = ("account", "contact")
    assert _read("EntityReference", {"type": "contact", "id": id}, targets=both) == Reference("contact", id)
    for raw in (id, {"type": "lead", "id": id}, {"id": id}, {"type": "contact", "id": id, "name": "x"}):
        with pytest.raises(InvalidInput):
            _read("EntityReference", raw, targets=both)


def test_a_pattern_matches_the_whole_text_in_linear_time() -> None:
    read = TYPES["String"].compile(Limits(pattern="(a+)+b"))
    assert read("aaab") == "aaab"
    with pytest.raises(InvalidInput) as refused:
        read("a" * 5_000)
    assert refused.value.code == "pattern"
    with pytest.raises(InvalidInput):
        read("xaaab")


def test_a_pattern_that_does_not_compile_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="is not one"):
        TYPES["String"].compile(Limits(pattern="("))
    # RE2 would say so by itself, too.
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", [name for name, kind in TYPES.items() if "allowed" in kind.constraints])
def test_allowed_values_are_in_the_schema(name: str) -> None:
    kind = TYPES[name]
    sample = json.loads(json.dumps(kind.sample, default=str))
    allowed = tuple(sample) if kind.is_several else (sample,)
    schema = kind.schema(Limits(allowed=allowed))
    assert tuple(schema.get("items", schema)["enum"]) == allowed


def test_allowed_values_are_compared_as_the_values_they_become() -> None:
    assert _read("Money", "10.0", allowed=(10, "20.50")) == Decimal(10)
    with pytest.raises(InvalidInput) as refused:
        _read("Money", 11, allowed=(10, "20.50"))
    assert refused.value.code == "not_allowed"
    with pytest.raises(InvalidInput):
        _read("String", "c", allowed=("a", "b"))


@pytest.mark.parametrize("type_name", sorted(TYPES))
def test_every_type_describes_itself_as_json_schema(type_name: str) -> None:
    import jsonschema

    schema = TYPES[type_name].schema(Limits(targets=("account", "contact"), options=frozenset({1})))
    jsonschema.Draft202012Validator.check_schema(schema)

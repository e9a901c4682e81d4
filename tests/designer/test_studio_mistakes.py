"""Many mistakes at once: each is said where it was made, and nothing that was typed is lost."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html as markup

from designer.models import Endpoint
from tests.designer.studio import add_row, change_url, errors, filled, page, send

# What is typed where, and a part of what is said of it at that field.
MISTAKES = {
    "segment": ("Not a Segment", "lower-case letters"),
    "inputs-0-type": ("Integer", "make it String"),
    "inputs-1-max_length": ("many", "whole number"),
    "inputs-1-pattern": ("(", "pattern"),
    "inputs-2-minimum": ("low", "number"),
    "inputs-3-name": ("phone", "Two rows have “phone”"),
    "bindings-1-value_text": ("nobody", "not defined"),
    "bindings-5-value_text": ("100.5", "number"),
    "bindings-6-attribute": ("", "required"),
    "fetchers-0-query": ("<fetch><entity name='lead'", "not well-formed"),
    "preconditions-0-expression": ("input.((", "expression"),
    "inputs-5-items-0-max_length": ("several", "whole number"),
    "inputs-5-properties-0-value_text": ("nothing", "not defined"),
}


@pytest.fixture
def create(portico: None) -> Endpoint:
    return Endpoint.objects.get(kind="create", entity__segment="accounts")


def _field(answer: Any, name: str) -> tuple[str, str]:
    """What the page shows in one field, and what it says of that field where its control points to."""
    shown: Any = markup.document_fromstring(answer.content.decode())
    field = shown.get_element_by_id(f"field-{name}")
    (control,) = field.xpath(".//*[@name=$name]", name=name)
    said = [shown.get_element_by_id(one).text_content() for one in control.get("aria-describedby").split()]
    return html.unescape(markup.tostring(field, encoding="unicode")), " ".join(said)


def _text(value: Any) -> str:
    """As a browser sends it: a list of choices is sent as texts, whatever they stand for."""
    return str([str(getattr(one, "pk", one)) for one in value] if isinstance(value, list) else value)


def _mistaken(dora: Client, row: Endpoint) -> dict[str, Any]:
    data = filled(page(dora, change_url(row)))
    add_row(data, "bindings", attribute="numberofemployees", source="constant", position=8)
    add_row(data, "bindings", source="constant", value_text="Kept", position=9)
    add_row(data, "fetchers", name="lead", position=0)
    add_row(data, "preconditions", status="409", message="Never", position=0)
    return data | {name: typed for name, (typed, _) in MISTAKES.items()}


def test_every_mistake_is_said_at_its_field_and_keeps_what_was_typed(dora: Client, create: Endpoint) -> None:
    data = _mistaken(dora, create)
    before = create.inputs.count(), create.bindings.count()
    answer = send(dora, change_url(create), data)
    assert answer.status_code == 200
    for name, (typed, said) in MISTAKES.items():
        held, told = _field(answer, name)
        assert said in told, f"{name}: {told}"
        assert typed in held, f"{name}: {held}"
    kept = filled(answer)
    lost = {name: value for name, value in data.items() if _text(value) != _text(kept.get(name, ""))}
    assert lost == {}
    assert (create.inputs.count(), create.bindings.count()) == before


def test_the_same_mistakes_are_said_while_they_are_typed(dora: Client, create: Endpoint) -> None:
    url = reverse("admin:designer_endpoint_check", args=[create.pk])
    state = dora.post(url, _mistaken(dora, create)).json()
    for name, (_, said) in MISTAKES.items():
        if said != "required":
            shown = state["errors"].get(name, "") + state["findings"].get(name, "")
            assert said in html.unescape(shown), name


# What is wrong with one field, and a part of the one sentence that says so.
ALONE = {
    "segment": ("Not a Segment", "lower-case letters"),
    "inputs-0-name": ("1 x", "do not start with a digit"),
    "inputs-3-name": ("phone", "Two rows have “phone”"),
}


@pytest.mark.parametrize("name", ALONE)
def test_one_mistake_is_said_once(dora: Client, create: Endpoint, name: str) -> None:
    """Where the form says what is wrong with a field, no finding says it in other words."""
    typed, said = ALONE[name]
    data = filled(page(dora, change_url(create))) | {name: typed}

    _, told = _field(send(dora, change_url(create), data), name)
    assert (said in told, told.count("✖")) == (True, 1), told
    state = dora.post(reverse("admin:designer_endpoint_check", args=[create.pk]), data).json()
    at_once = html.unescape(state["errors"].get(name, "") + state["findings"].get(name, ""))
    assert (said in at_once, at_once.count("✖")) == (True, 1), at_once


def test_a_name_that_two_rows_have_is_said_at_the_later_one(dora: Client, create: Endpoint) -> None:
    data = filled(page(dora, change_url(create))) | {"inputs-3-name": "phone"}
    answer = send(dora, change_url(create), data)
    told = {name: _field(answer, name)[1] for name in ("inputs-1-name", "inputs-3-name")}
    assert "✖" not in told["inputs-1-name"]
    assert "Two rows have “phone”" in told["inputs-3-name"]


@pytest.mark.parametrize("value", [7, [1], [{}], [{"name": "a", "by": 3}], {"a": [None]}])
def test_settings_that_are_nothing_of_the_kind_are_shown(dora: Client, portico: None, value: Any) -> None:
    """What SQL or an older release has written into the column."""
    for row in {row.kind: row for row in Endpoint.objects.all()}.values():
        if row.operation is not None:
            settings = dict.fromkeys(row.operation.settings.model_fields, value)
            Endpoint.objects.filter(pk=row.pk).update(settings=settings)
            page(dora, change_url(row))


@pytest.mark.parametrize("typed", [r'"\u0000"', r'["a\u0000"]', r'{"\u0000": 1}', "[1e400]", "1" * 5000])
def test_constants_that_not_every_database_stores_are_refused_or_kept_as_typed(
    dora: Client, create: Endpoint, typed: str
) -> None:
    data = filled(page(dora, change_url(create)))
    data.pop("enabled")
    add_row(data, "bindings", attribute="numberofemployees", source="constant", value_text=typed, position=8)
    assert send(dora, change_url(create), data).status_code == 302
    assert create.bindings.get(attribute="numberofemployees").value == typed


def test_a_text_that_is_no_fetchxml_is_said_once(dora: Client, portico: None) -> None:
    row = Endpoint.objects.filter(kind="multi-query")[0]
    data = filled(page(dora, change_url(row))) | {"settings__query": "nonsense"}
    _, told = _field(send(dora, change_url(row), data), "settings__query")
    assert ("not well-formed" in told, told.count("✖")) == (True, 1), told


@pytest.mark.parametrize(
    ("model", "typed"), [("module", {"segment": "sales"}), ("role", {"name": "support"})]
)
def test_a_name_that_is_taken_is_said_with_what_to_do(
    dora: Client, model: str, typed: dict[str, str]
) -> None:
    url = reverse(f"admin:designer_{model}_add")
    answer = send(dora, url, filled(page(dora, url)) | typed)
    assert errors(answer) == ["This value is taken. Choose another one."]

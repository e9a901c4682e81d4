"""Filling in the studio's forms as a browser does: all of the page is sent back, with what was changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.urls import reverse

from designer.sentences import said


def page(client: Client, url: str) -> Any:
    answer = client.get(url)
    assert answer.status_code == 200, answer
    return answer


def confirmed(client: Client, url: str, data: dict[str, Any]) -> Any:
    """Send a form, and say yes if the answer asks whether to let more callers in."""
    answer = client.post(url, data)
    if answer.status_code == 200 and "sentences" in (answer.context or ()):
        return client.post(url, {**data, "confirmed": answer.context["digest"]})
    return answer


def change_url(row: Any) -> str:
    return reverse(f"admin:designer_{row._meta.model_name}_change", args=[row.pk])


def add_url(model: str) -> str:
    return reverse(f"admin:designer_{model}_add")


def filled(answer: Any) -> dict[str, Any]:
    """What the browser would send of the page as it stands."""
    form = answer.context["adminform"].form
    data = _values(form)
    for formset in _formsets(answer):
        data |= _values(formset.management_form)
        for row in formset.forms:
            data |= _values(row)
    return data


def as_by_browser(answer: Any) -> dict[str, Any]:
    """What a browser sends of the page as it stands: inputs lose line breaks, text areas get CR and LF."""
    data = filled(answer)
    forms = [answer.context["adminform"].form, *(row for rows in _formsets(answer) for row in rows.forms)]
    for bound in (bound for form in forms for bound in form):
        text = data.get(bound.html_name)
        if isinstance(text, str):
            is_input = hasattr(bound.field.widget, "input_type")
            lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            data[bound.html_name] = ("" if is_input else "\r\n").join(lines)
    return data


def send(client: Client, url: str, data: dict[str, Any]) -> Any:
    """Save the form. A page of errors is 200, a save redirects."""
    return client.post(url, data)


def send_and_let_in(client: Client, url: str, data: dict[str, Any]) -> Any:
    """Save the form, and say yes where it asks whether more callers are let in."""
    answer = send(client, url, data)
    questions = (answer.context or {}).get("questions", ()) if answer.status_code == 200 else ()
    answers = {question.name: question.value for question in questions if question.name == "_opened_access"}
    return send(client, url, data | answers) if answers else answer


def add_row(data: dict[str, Any], prefix: str, **values: Any) -> None:
    """What “Add another” does to an inline."""
    at = int(data[f"{prefix}-TOTAL_FORMS"])
    data[f"{prefix}-TOTAL_FORMS"] = at + 1
    for name, value in {"position": 0, **values}.items():
        data[f"{prefix}-{at}-{name}"] = value


def errors(answer: Any) -> list[str]:
    """Every message that the page shows at its forms: of fields, and of what blocks a refused save."""
    assert answer.status_code == 200, answer
    forms = [answer.context["adminform"].form]
    for formset in _formsets(answer):
        forms += formset.forms
    asked = [said(question.text) for question in answer.context.get("questions", ()) if question.text]
    of_fields = [message for form in forms for messages in form.errors.values() for message in messages]
    return asked + of_fields + [message for _, message in blocking(answer)]


def blocking(answer: Any) -> list[tuple[str, str]]:
    """The place and sentence of each blocking finding that the page shows."""
    located = answer.context.get("located") or ()
    return [(item.place, item.finding.message) for item in located if item.finding.is_blocking]


def _formsets(answer: Any) -> Iterator[Any]:
    """The page's, and those inside of their rows."""
    for inline in answer.context["inline_admin_formsets"]:
        yield inline.formset
        for row in inline.formset.forms:
            yield from (inner.formset for inner in getattr(row, "nested_formsets", ()))


def _values(form: Any) -> dict[str, Any]:
    values = {}
    for bound in form:
        value = bound.value()
        if value is None or value is False:
            continue
        values[bound.html_name] = "on" if value is True else value
    return values

"""What forms of the studio send for rows: numbers that no row has, and that no database takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.test import Client
from django.urls import reverse
from lxml import html

from tests.designer.pages import pages
from tests.designer.test_studio_issuers import member

# Many more than the number of a row has, and fewer than `int` refuses.
DIGITS = "9" * 500
# What leads elsewhere, or says how many rows of a form follow.
KEPT = ("csrfmiddlewaretoken", "-TOTAL_FORMS", "-INITIAL_FORMS", "-MIN_NUM_FORMS", "-MAX_NUM_FORMS")


@pytest.fixture
def root(portico: None) -> Client:
    client = member("Administrator")
    client.raise_request_exception = False
    return client


def forged(form: Any, text: str) -> dict[str, list[str]]:
    """What a browser sends of a form, but with `text` for everything that is chosen, and for each hidden
    number.
    """
    sent: dict[str, list[str]] = {}
    for name, value in form.form_values():
        sent.setdefault(name, []).append(value)
    for element in form.inputs:
        name, kind = element.name, element.get("type", element.tag)
        if not name or name.endswith(KEPT):
            continue
        if kind in ("checkbox", "radio", "select") or (kind == "hidden" and (element.value or "").isdigit()):
            sent[name] = [text]
    return sent


def forms(page: Any) -> Iterator[Any]:
    document = html.document_fromstring(page.content)
    for form in document.forms:  # type: ignore[attr-defined]  # not in the stubs
        if "csrfmiddlewaretoken" in form.fields:
            yield form


def send(client: Client, address: str, sent: dict[str, Any]) -> int:
    """The status of the answer. What it changed is taken back."""
    with transaction.atomic():
        status: int = client.post(address, sent).status_code
        transaction.set_rollback(True)
    return status


def asked_pages(client: Client) -> dict[str, str]:
    """The addresses of all pages, by name."""

    def ask(path: str) -> tuple[int, str, str]:
        answer = client.get(path)
        return answer.status_code, answer.headers.get("Content-Type", ""), answer.content.decode()

    return pages(ask)


def test_no_form_fails_for_a_number_that_no_row_has(root: Client) -> None:
    # Some forms are on every page, such as that of the language.
    statuses: dict[tuple[str, frozenset[str]], int] = {}
    for path in asked_pages(root).values():
        for form in forms(root.get(path)):
            address = urljoin(path, form.get("action") or path)
            sent = forged(form, DIGITS)
            key = address, frozenset(sent)
            if address != reverse("admin:logout") and key not in statuses:
                statuses[key] = send(root, address, sent)
    assert len(statuses) > 60
    assert {address for (address, _), status in statuses.items() if status >= 500} == set()


@pytest.mark.parametrize("text", [DIGITS, "x"])
def test_no_action_of_a_list_fails_for_a_number_that_no_row_has(root: Client, text: str) -> None:
    lists = [model for model in admin.site._registry if root.get(list_url(model)).status_code == 200]
    statuses = {}
    for model in lists:
        for form in forms(root.get(list_url(model))):
            if "action" not in form.fields:
                continue
            for action in filter(None, form.inputs["action"].value_options):
                chosen = {"action": action, ACTION_CHECKBOX_NAME: [text]}
                statuses[model._meta.model_name, action] = send(root, list_url(model), chosen)
    assert len(statuses) > 20
    assert set(statuses.values()) == {404}


def list_url(model: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")

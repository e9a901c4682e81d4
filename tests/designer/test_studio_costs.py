"""What an endpoint's page asks of the database: the same, however many inputs and endpoints there are."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from designer.models import Input
from tests.designer.rows import endpoint as another
from tests.designer.studio import change_url, filled, page
from tests.runtime.accounts import endpoint

# Of an endpoint's page, and of those beside it.
MOST = 42
MOST_BESIDE = 15
# Of a row of the grid that nobody has unfolded, with a finding: 17 of them are types to choose from.
MOST_ELEMENTS = 75


def _queries(client: Client, url: str) -> int:
    page(client, url)
    with CaptureQueriesContext(connection) as captured:
        page(client, url)
    return len(captured)


def test_rows_and_other_endpoints_cost_a_page_no_queries(dora: Client) -> None:
    row = endpoint("create")
    before = _queries(dora, change_url(row))
    for at in range(10):
        Input.objects.create(endpoint=row, name=f"more{at}", position=at + 10)
        another(f"many-{at}")
    assert _queries(dora, change_url(row)) <= before
    assert before <= MOST


def test_an_input_costs_a_page_few_elements(dora: Client) -> None:
    row = endpoint("create")
    before = _elements(dora, change_url(row))
    for at in range(10):
        Input.objects.create(endpoint=row, name=f"more{at}", description="Said", position=at + 10)
    assert _elements(dora, change_url(row)) - before <= 10 * MOST_ELEMENTS


def test_a_browser_without_scripts_gets_the_settings_of_inputs_by_a_link(dora: Client) -> None:
    url = change_url(endpoint("create"))
    assert 'id="id_inputs-0-description"' not in page(dora, url).content.decode()
    assert "<noscript>" in page(dora, url).content.decode()
    assert 'id="id_inputs-0-description"' in page(dora, f"{url}?unfolded").content.decode()


def _elements(client: Client, url: str) -> int:
    """Count the elements of a page. Templates have the same, however many rows there are."""
    return len(re.findall("<[a-z]", page(client, url).content.decode()))


def test_rows_cost_the_check_of_their_page_no_queries(dora: Client) -> None:
    row = endpoint("create")

    def asked() -> int:
        sent = filled(page(dora, change_url(row)))
        url = reverse("admin:designer_endpoint_check", args=[row.pk])
        with CaptureQueriesContext(connection) as captured:
            assert dora.post(url, sent).status_code == 200
        return len(captured)

    before = asked()
    for at in range(10):
        Input.objects.create(endpoint=row, name=f"more{at}", position=at + 10)
    assert asked() <= before


@pytest.mark.parametrize("name", ["studio:expose", "studio:view_as"])
def test_other_endpoints_cost_the_pages_beside_it_no_queries(dora: Client, name: str) -> None:
    url = f"{reverse(name)}?entity=contact&role=anonymous"
    before = _queries(dora, url)
    for at in range(10):
        another(f"many-{at}")
    assert _queries(dora, url) <= before + 1
    assert before <= MOST_BESIDE

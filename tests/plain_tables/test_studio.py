"""The studio before plain tables, and before a platform that declares nothing."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from designer.loading import load
from designer.models import Endpoint, UserProperty
from designer.readiness import Checker, Metadata
from tests.plain_tables.platform import PlainTables


@pytest.fixture(params=["tables", "nothing_declared"])
def plain(request: pytest.FixtureRequest) -> PlainTables:
    platform: PlainTables = request.getfixturevalue(request.param)
    return platform


def test_its_pages_open(plain: PlainTables, dora: Client) -> None:
    rows = [
        *(("endpoint", row.pk) for row in Endpoint.objects.all()),
        *(("userproperty", row.pk) for row in UserProperty.objects.all()),
    ]
    pages = [
        reverse("admin:index"),
        reverse("studio:platform"),
        reverse("admin:designer_userproperty_add"),
        f"{reverse('studio:expose')}?entity=firm",
        *(reverse(f"admin:designer_{model}_change", args=[id]) for model, id in rows),
    ]
    for page in pages:
        assert dora.get(page).status_code == 200, page


def test_the_page_of_the_platform_speaks_of_no_other_platform(plain: PlainTables, dora: Client) -> None:
    page = dora.get(reverse("studio:platform")).content.decode()

    assert "The platform's metadata is always up to date." in page
    assert "CRM in the box" not in page


def test_attributes_of_users_are_offered_where_there_are_users(tables: PlainTables, dora: Client) -> None:
    page = dora.get(reverse("admin:designer_userproperty_add")).content.decode()

    assert "label (label) – String" in page
    assert "member_seat" in page


def test_exposing_suggests_what_the_platform_calls_common(tables: PlainTables, dora: Client) -> None:
    page = dora.get(f"{reverse('studio:expose')}?entity=firm").content.decode()
    boxes = re.findall(r'<input[^>]*name="attributes"[^>]*>', page)
    ticked = {re.findall(r'value="(\w+)"', box)[0] for box in boxes if re.search(r"\schecked\b(?!:)", box)}

    assert ticked & {"title", "phone", "telefax"} == {"title", "phone"}


def test_exposing_offers_a_list_without_pages_where_the_platform_has_none(
    nothing_declared: PlainTables, dora: Client
) -> None:
    address = f"{reverse('studio:expose')}?entity=person"
    form = dora.get(address).context["form"]
    offered = {operation for operation, _label in form.fields["operations"].choices}
    assert "paginated-query" not in offered
    # Those that exist under the suggested segment are not ticked: this is another segment.
    data = {bound.html_name: bound.value() for bound in form}
    data |= {"module": "people", "segment": "persons", "operations": [*offered - {"delete"}]}
    answer = dora.post(address, data)
    assert answer.status_code == 302, answer.context["form"].errors
    made = Endpoint.objects.filter(module__segment="people")
    assert {row.kind for row in made} == {"create", "read", "update", "multi-query"}
    checker = Checker(load(), Metadata(nothing_declared))
    assert [finding for row in made for finding in checker.endpoint(row.pk) if finding.is_blocking] == []

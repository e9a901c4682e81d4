"""Views that a platform keeps: the start of many a query."""

from __future__ import annotations

import pytest

from crmclient import OffersViews, Platform, SavedView
from crmclient.query.fetchxml import parse

pytestmark = pytest.mark.needs("views")


def offered(platform: Platform, entity: str) -> list[SavedView]:
    assert isinstance(platform, OffersViews)
    saved = platform.saved_views(entity)
    assert saved.denied is None
    return list(saved.views)


def test_views_of_an_entity_come_by_name_and_personal_ones_last(platform: Platform) -> None:
    views = [(view.name, view.is_personal) for view in offered(platform, "account")]
    assert views == [
        ("Active Accounts", False),
        ("My Active Accounts", False),
        ("Accounts of the last 30 days", True),
    ]


@pytest.mark.parametrize("entity", ["account", "contact", "incident", "lead", "opportunity"])
def test_each_view_is_a_query_of_its_entity(platform: Platform, entity: str) -> None:
    views = offered(platform, entity)
    assert views
    assert {parse(view.fetchxml).entity for view in views} == {entity}


@pytest.mark.parametrize("entity", ["nothing", "it's", ""])
def test_what_is_no_entity_has_no_views(platform: Platform, entity: str) -> None:
    assert offered(platform, entity) == []

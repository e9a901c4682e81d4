"""What the page for consultants says of FetchXML is what there is."""

from __future__ import annotations

import pytest
from django.conf import settings

from crmclient.query.designed import OPERATORS
from crmclient.query.fetchxml.filters import UNSUPPORTED_OPERATORS

PAGE = (settings.BASE_DIR / "docs/queries.md").read_text()
READ, NOT_READ = PAGE.split("## What is refused")


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_is_on_the_page(operator: str) -> None:
    assert f"`{operator}`" in READ


@pytest.mark.parametrize("operator", UNSUPPORTED_OPERATORS)
def test_every_refused_operator_is_on_the_page(operator: str) -> None:
    assert f"`{operator}`" in NOT_READ
    assert f"`{operator}`" not in READ

"""A lookup that nobody may read: the name of its record tells what it holds, and is not read either."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Column, Condition, Filter, Link, Operator, Order, Query
from tests.contract.hidden import HIDDEN, define
from tests.contract.making import contact
from tests.dataverse.reaching import platform_at
from tests.servers import Site


@pytest.fixture(params=["embedded", "dataverse"])
def platform(portico: None, request: pytest.FixtureRequest) -> Platform:
    if request.param == "embedded":
        define()
        return EmbeddedPlatform()
    site: Site = request.getfixturevalue("site")
    site.manage("shell", "-c", "from tests.contract.hidden import define; define()")
    return platform_at(site.start_crm(root="/contoso"))


QUERIES: dict[str, dict[str, Any]] = {
    "its value": {"columns": (Column("new_keeperid"),)},
    "a column": {"columns": (Column("new_keeperidname"),)},
    "a condition": {"filter": Filter((Condition("new_keeperidname", Operator.BEGINS_WITH, ("Ada",)),))},
    "an order": {"orders": (Order("new_keeperidname"),)},
    "a link": {"links": (Link("contact", "contactid", "new_keeperid", "c", columns=(Column("fullname"),)),)},
}


def test_no_query_reads_it(platform: Platform) -> None:
    platform.create(HIDDEN, {"new_name": "Gold", "new_keeperid": contact(platform)})
    answered = {}
    for name, parts in QUERIES.items():
        with suppress(InvalidQuery):
            answered[name] = platform.query(Query(HIDDEN, **{"columns": (Column("new_name"),), **parts})).rows
    assert answered == {}

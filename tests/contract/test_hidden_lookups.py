"""A lookup that nobody may read: the name of its record tells what it holds, and is not read either."""

from __future__ import annotations

from typing import Any

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from crmclient.errors import InvalidQuery
from crmclient.query.ast import Column, Condition, Filter, Link, Operator, Order, Query
from crmclient.query.families import UNREADABLE
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
    "a condition on its value": {"filter": Filter((Condition("new_keeperid", Operator.NULL),))},
    "a comparison": {
        "filter": Filter((Condition("createdby", Operator.EQ, value_of=(None, "new_keeperid")),))
    },
    "a condition in a group": {
        "filter": Filter((Filter((Condition("new_keeperid", Operator.NULL),), any=True),))
    },
    "a condition of a link": {
        "links": (
            Link(
                "systemuser",
                "systemuserid",
                "createdby",
                "u",
                filter=Filter((Condition("new_keeperid", Operator.NULL, link=HIDDEN),)),
            ),
        )
    },
    "an order": {"orders": (Order("new_keeperidname"),)},
    "an order by its value": {"orders": (Order("new_keeperid"),)},
    "a link": {"links": (Link("contact", "contactid", "new_keeperid", "c", columns=(Column("fullname"),)),)},
}


def test_no_query_reads_it(platform: Platform) -> None:
    platform.create(HIDDEN, {"new_name": "Gold", "new_keeperid": contact(platform)})
    said = {}
    for name, parts in QUERIES.items():
        with pytest.raises(InvalidQuery) as refused:
            platform.query(Query(HIDDEN, **{"columns": (Column("new_name"),), **parts}))
        said[name] = str(refused.value)
    # It is refused before the platform is asked, so that nothing depends on how that takes it.
    assert {name: text.rpartition(": ")[2] for name, text in said.items()} == dict.fromkeys(
        QUERIES, f"{UNREADABLE}."
    )

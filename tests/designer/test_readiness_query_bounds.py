"""What no platform would run is found when a query is designed, not when it is asked for."""

from __future__ import annotations

import pytest

from tests.designer.judged_queries import LINK, fetch, findings, where

pytestmark = pytest.mark.usefixtures("portico")

OUT_OF_RANGE = "the date must lie between"
FILLED = '<condition attribute="name" operator="not-null"/>'


def several(attribute: str, values: int) -> str:
    return f'<condition attribute="{attribute}" operator="in">{"<value>1</value>" * values}</condition>'


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (where('attribute="revenue" operator="gt" value="0.00001"'), "at most 4 decimal places are kept"),
        (where('attribute="numberofemployees" operator="lt" value="9999999999"'), "must lie between"),
        (where('attribute="industrycode" operator="eq" value="99999999999"'), "must lie between"),
        (where('attribute="createdon" operator="le" value="9999-12-31"'), OUT_OF_RANGE),
        (where('attribute="createdon" operator="le" value="9999-12-31T23:59:59-05:00"'), OUT_OF_RANGE),
        (where('attribute="createdon" operator="on-or-after" value="0001-01-01"'), OUT_OF_RANGE),
        (where('attribute="createdon" operator="last-x-years" value="500"'), OUT_OF_RANGE),
        (where('attribute="donotphone" operator="gt" valueof="donotemail"'), "does not apply to a true"),
        (
            fetch("<filter>" + several("new_interests", 1) + "</filter>"),
            "a multi-select choice is compared by contain-values",
        ),
        (fetch("<filter>" + several("name", 2001) + "</filter>"), "at most 2000 values are taken"),
        (fetch("<filter>" + FILLED * 501 + "</filter>"), "it has 501 conditions; at most 500 are allowed"),
        (
            fetch('<link-entity name="contact" from="parentcustomerid" to="name" alias="c"/>'),
            "a Customer and a String cannot be compared",
        ),
        (
            fetch(
                LINK.format(
                    '<link-entity name="systemuser" from="systemuserid" to="ownerid" alias="u"><filter>'
                    '<condition attribute="fullname" operator="eq" valueof="account.name"/>'
                    "</filter></link-entity>"
                )
            ),
            "a link's filter can name the link or its parent, not 'account'",
        ),
        (
            fetch(LINK.format("<all-attributes/>"), 'distinct="true"', "<all-attributes/>"),
            "columns; at most 64 are allowed",
        ),
    ],
)
def test_what_no_platform_would_run_is_said_before_it_is_asked(query: str, message: str) -> None:
    matches = [finding for finding in findings(query, kind="multi-query") if finding.rule == "query-problem"]
    assert message in matches[0].message

"""What conditions compare with of a caller beside properties: the same rows, whatever platform runs them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from crmclient import Platform
from crmclient.query.fetchxml import parse
from crmclient.query.resolving import Circumstances, prepare

CALLER: dict[str, Any] = {
    "user_values": {"type": "wööl", "roles": ["Wool", "O'Wool"]},
    "claims": {
        "level": "2",
        "since": "2021-01-02",
        "names": ["100_Wool"],
        "missing": None,
        "much": "922337203685478",
        "odd": "Wool\x01",
        "long": "x" * 4001,
    },
}


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ('attribute="name" operator="eq" value="@user.type"', {"Wool", "wööl"}),
        ('attribute="name" operator="in"><value>@user.roles</value>', {"Wool", "wööl", "O'Wool"}),
        ('attribute="numberofemployees" operator="eq" value="@user.claims.level"', {"[Draft] Wool"}),
        (
            'attribute="revenue" operator="le" value="@user.claims.level"',
            {"100% Wool", "100_Wool", "[Draft] Wool"},
        ),
        ('attribute="new_customersince" operator="eq" value="@user.claims.since"', {"100_Wool"}),
        ('attribute="name" operator="in"><value>@user.claims.names</value>', {"100_Wool"}),
        ('attribute="name" operator="ne" value="@user.claims.missing"', set()),
        ('attribute="name" operator="ne" value="@user.claims.other"', set()),
        # The platform is asked for nothing that the attribute cannot hold.
        ('attribute="revenue" operator="ne" value="@user.claims.names"', set()),
        ('attribute="revenue" operator="ne" value="@user.claims.since"', set()),
        ('attribute="revenue" operator="ne" value="@user.claims.much"', set()),
        ('attribute="name" operator="ne" value="@user.claims.odd"', set()),
        ('attribute="name" operator="not-like" value="@user.claims.long"', set()),
    ],
)
def test_type_roles_and_claims(platform: Platform, wool: str, condition: str, names: set[str]) -> None:
    own = f"<condition {condition}{'</condition>' if '<value>' in condition else '/>'}"
    query = parse(
        f'<fetch><entity name="account"><attribute name="name"/><filter>{own}'
        f'<condition attribute="sic" operator="eq" value="{wool}"/></filter></entity></fetch>'
    )
    resolved = prepare(query, platform.attributes).resolve(Circumstances(dt.datetime.now(dt.UTC), **CALLER))
    assert {row["name"] for row in platform.query(resolved).rows} == names

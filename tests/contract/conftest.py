"""Every test of this folder holds for each platform: embedded in this process, and Dataverse over a socket.

Both have the demo's data. Tests make what they change: what is written over the socket stays there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from crmclient.dataverse import DataversePlatform
from tests.contract.making import WOOL, account, unique
from tests.dataverse.reaching import platform_at
from tests.servers import Server, Site, copied


@pytest.fixture(scope="session")
def _crm_site(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with copied(_prepared, tmp_path_factory.mktemp("contract") / "data", "contract") as site:
        yield site


@pytest.fixture(scope="session")
def _crm_server(_crm_site: Site) -> Server:
    return _crm_site.start_crm(root="/contoso")


@pytest.fixture(scope="session")
def _dataverse(_crm_server: Server) -> DataversePlatform:
    return platform_at(_crm_server)


@pytest.fixture(params=["embedded", "dataverse"])
def platform(portico: None, request: pytest.FixtureRequest) -> Platform:
    if request.param == "embedded":
        return EmbeddedPlatform()
    found: DataversePlatform = request.getfixturevalue("_dataverse")
    return found


@pytest.fixture
def wool(platform: Platform) -> str:
    """The value of `sic` that the wool traders of one test have in common."""
    group = unique("wool")[:20]
    for number, name in enumerate(WOOL):
        account(
            platform,
            name=name,
            sic=group,
            numberofemployees=number or None,
            revenue=Decimal(number),
            new_interests=((100000000,), (100000000, 100000001), (100000002,), (), (100000001,), ())[number],
            new_customersince=dt.date(2020 + number % 2, 1, 1 + number),
        )
    return group

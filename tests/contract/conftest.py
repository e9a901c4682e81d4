"""Every test of this folder holds for each platform: embedded in this process, Dataverse over a socket, and
plain tables, which have less and call it otherwise.

The first two have the demo's data. Tests make what they change: what is written over the socket stays there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest

from crmbox.platform import EmbeddedPlatform
from crmclient import Platform
from crmclient.dataverse.platform import DataversePlatform
from tests.contract.making import WOOL, account, unique
from tests.contract.plain import PLAIN, Renamed, is_beyond
from tests.dataverse.reaching import platform_at
from tests.plain_tables import PlainTables
from tests.servers import Server, Site, copied

INTERESTS = ((100000000,), (100000000, 100000001), (100000002,), (), (100000001,), ())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What plain tables do not declare is no test of theirs."""
    beyond = [item for item in items if is_beyond(item)]
    config.hook.pytest_deselected(items=beyond)
    items[:] = [item for item in items if item not in beyond]


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


@pytest.fixture(params=["embedded", "dataverse", PLAIN])
def platform(portico: None, request: pytest.FixtureRequest) -> Platform:
    if request.param == "embedded":
        return EmbeddedPlatform()
    if request.param == PLAIN:
        return Renamed(PlainTables())
    dataverse: DataversePlatform = request.getfixturevalue("_dataverse")
    return dataverse


@pytest.fixture
def wool(platform: Platform) -> str:
    """The value of `sic` that the wool traders of one test have in common."""
    group = unique("wool")[:20]
    has_choices = "new_interests" in platform.attributes("account")
    for number, name in enumerate(WOOL):
        account(
            platform,
            name=name,
            sic=group,
            numberofemployees=number or None,
            revenue=Decimal(number),
            new_customersince=dt.date(2020 + number % 2, 1, 1 + number),
            **({"new_interests": INTERESTS[number]} if has_choices else {}),
        )
    return group

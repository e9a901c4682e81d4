"""A CRM server over a copy of the demo, for all tests of this folder: they make what they change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import Site, copied
from tests.webapi.crm import Crm, service


@pytest.fixture(scope="session")
def crm_site(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with copied(_prepared, tmp_path_factory.mktemp("crm") / "data", "crm") as site:
        yield site


@pytest.fixture(scope="session")
def crm(crm_site: Site) -> Crm:
    """Acts as the service's own account."""
    return service(crm_site.start_crm(root="/contoso"))


@pytest.fixture
def fresh_crm(site: Site) -> Crm:
    """A server of the test's own, for what would disturb others, such as changes of the metadata."""
    return service(site.start_crm())

"""A CRM server that fails on request, and the client in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from crmclient.dataverse.platform import DataversePlatform
from tests.dataverse.reaching import platform_at
from tests.servers import Server, Site, copied


@pytest.fixture(scope="session")
def _failing_server(_prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with copied(_prepared, tmp_path_factory.mktemp("failing") / "data", "failing") as site:
        yield site.start_crm(root="/contoso", CRM_SERVER_FAULTS="1")


class Failing:
    """`arm` says what goes wrong next; `struck` how often each of it has."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def arm(self, *faults: dict[str, Any]) -> None:
        requests.put(f"{self.server.url}/faults", json={"faults": faults}, timeout=10).raise_for_status()

    def struck(self) -> list[int]:
        answer = requests.get(f"{self.server.url}/faults", timeout=10).json()
        return [fault["struck"] for fault in answer["faults"]]

    def platform(self, **options: Any) -> DataversePlatform:
        """A client of its own, which knows the metadata of accounts already."""
        client = platform_at(self.server, **options)
        client.attributes("account")
        return client


@pytest.fixture
def failing(_failing_server: Server) -> Iterator[Failing]:
    faults = Failing(_failing_server)
    faults.arm()
    yield faults
    faults.arm()

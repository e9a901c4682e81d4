"""What the installations of the tests have to themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers import Server, Site, copied

pytestmark = pytest.mark.redis


def _logins(server: Server) -> list[int]:
    account = {"username": "rep", "password": "demo"}
    return [server.request("POST", "/api/token", json=account).status_code for _ in range(6)]


def test_an_installation_finds_no_counts_of_the_one_before_it(site: Site, tmp_path: Path) -> None:
    for name in ("first", "second"):
        with copied(site, tmp_path / name, name) as own:
            logins = _logins(own.start(LOGIN_RATE="2"))
            # A minute may end on the way.
            assert (logins[0], 429 in logins) == (200, True)

"""Callers at work while processes are killed, and PostgreSQL, Redis and the platform come and go."""

from __future__ import annotations

import statistics
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.dataverse.reaching import settings_for
from tests.drills.editor import Editor
from tests.drills.ledger import Ledger, held
from tests.drills.load import is_ready, load
from tests.drills.outages import PostgreSQL, Redis, going_on, kill_a_worker
from tests.processes import descendants
from tests.servers import Server, Site, until

pytestmark = [pytest.mark.drill, pytest.mark.processes]

# What a server that nobody kills may take more in the last third than in the one before.
GROWTH = 1.2
# In less time a server still fills its caches, and a worker that starts is a third of all.
SECONDS_TO_LEVEL = 60


def test_nothing_is_lost_or_doubled_while_everything_fails(
    served_by_postgresql: Site, crm_site: Site, postgresql: PostgreSQL, cache: Redis, seconds: float
) -> None:
    crm = crm_site.start_crm(root="/contoso")
    site, settings = served_by_postgresql, {**settings_for(crm), "CACHE_URL": cache.url}
    killed = site.start(WORKERS="2", **settings)
    spared = site.start(WORKERS="1", **settings)
    away = min(10.0, seconds / 12)

    def redis_goes_away() -> None:
        cache.stop()
        time.sleep(away)
        cache.start()

    def database_goes_away() -> None:
        postgresql.stop()
        time.sleep(away)
        postgresql.start()

    def platform_goes_away() -> None:
        crm_site.servers[-1].kill()
        time.sleep(away)
        crm_site.start_crm(root="/contoso", port=urlsplit(crm.url).port)

    ledger, sizes = Ledger(), list[int]()
    editor = Editor(spared, killed, ledger)
    with (
        load([killed, spared], ledger),
        going_on(redis_goes_away, platform_goes_away, database_goes_away, pause=2 * away) as failed,
        going_on(lambda: kill_a_worker(killed), pause=min(30.0, seconds / 8)),
        going_on(editor.edit, pause=1),
        going_on(lambda: sizes.append(_size(spared)), pause=1),
    ):
        time.sleep(seconds)
    until(lambda: is_ready(killed) and is_ready(spared))
    third = len(sizes) // 3
    before, last = (statistics.median(part) for part in (sizes[third : 2 * third], sizes[-third:]))
    print(ledger.report(), f"{editor.saved} edits saved. Memory: {before:.0f} KiB, then {last:.0f} KiB.")
    assert ledger.faults == []
    assert failed == []
    assert ledger.compare(held(site, **settings)) == []
    assert editor.saved > 0
    assert seconds < SECONDS_TO_LEVEL or last <= GROWTH * before


def _size(server: Server) -> int:
    """The memory that the server's processes take, in KiB."""
    total = 0
    for process in [server.process.pid, *descendants(server.process.pid)]:
        with suppress(OSError):
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
            total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return total

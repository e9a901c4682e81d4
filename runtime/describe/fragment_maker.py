"""Making the fragments that are missing, and keeping them."""

from __future__ import annotations

import datetime as dt
import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from runtime.describe.child_process import WORKSHOP
from runtime.describe.fragment_digests import Digests
from runtime.describe.fragments import make
from runtime.describe.metadata_snapshot import MetadataSnapshot
from runtime.describe.models import DescriptionFragment
from runtime.describe.own_routes import OWN_ROUTES
from runtime.serving.served import Served, current

logger = logging.getLogger("portico.introspection")

_BATCH = 40
_AT_ONCE = 250
# What a save may make itself: more than that would keep its sender waiting.
FEW = 20
# A release that is being replaced still needs its own.
KEPT = dt.timedelta(days=1)


class Maker:
    """Remembers what the database has, so that asking again costs nothing while nothing has changed."""

    def __init__(self, digests: Digests) -> None:
        self._digests = digests
        self._stored: set[str] = set()
        self._complete: Served | None = None

    def missing(self, served: Served) -> dict[str, int]:
        """Endpoints whose fragments the database lacks, by digest."""
        if served is self._complete:
            return {}
        ids = [*OWN_ROUTES, *served.routes.ids()]
        wanted = {self._digests.of(served, id): id for id in ids}
        unknown = [digest for digest in wanted if digest not in self._stored]
        for start in range(0, len(unknown), _AT_ONCE):
            self._stored |= _stored(unknown[start : start + _AT_ONCE])
        self._stored &= wanted.keys()
        return {digest: id for digest, id in wanted.items() if digest not in self._stored}

    def make(
        self, served: Served, missing: Mapping[str, int], go_on: Callable[[], bool] = lambda: True
    ) -> None:
        """Make and store them, until `go_on` says no; others may be doing the same."""
        described = replace(served, platform=MetadataSnapshot(served.platform), views={})
        batches = [list(missing)[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
        random.shuffle(batches)
        for batch in batches:
            if not go_on():
                return
            there = _stored(batch)
            made = [
                DescriptionFragment(digest=digest, content=make(described, missing[digest]))
                for digest in batch
                if digest not in there
            ]
            DescriptionFragment.objects.bulk_create(made, ignore_conflicts=True)
            self._stored.update(batch)
        self._complete = served


def sweep(served: Served, digests: Digests) -> int:
    """Remove what is a day old and stands for nothing served; how many there were."""
    wanted = {digests.of(served, id) for id in (*OWN_ROUTES, *served.routes.ids())}
    old = DescriptionFragment.objects.filter(made__lt=dt.datetime.now(dt.UTC) - KEPT)
    gone = [digest for digest in old.values_list("digest", flat=True) if digest not in wanted]
    for start in range(0, len(gone), _AT_ONCE):
        DescriptionFragment.objects.filter(digest__in=gone[start : start + _AT_ONCE]).delete()
    return len(gone)


def make_after_a_save() -> None:
    """What has just been committed is described at once; a large change by the child process."""
    try:
        served = current()
        missing = _maker.missing(served)
        if len(missing) <= FEW:
            _maker.make(served, missing)
        elif WORKSHOP.is_open:
            WORKSHOP.ask()
    except Exception:
        # The save itself is done, and the next reader has the rest made.
        logger.exception("describing what was saved failed")


def _stored(digests: list[str]) -> set[str]:
    return set(DescriptionFragment.objects.filter(digest__in=digests).values_list("digest", flat=True))


_maker = Maker(Digests())

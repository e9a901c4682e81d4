"""Make the descriptions (OpenAPI, /api/schema) of endpoints that have none yet."""

from __future__ import annotations

import gc
import logging
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser

from crmclient.errors import PlatformError
from crmclient.sentences import for_log
from designer.management.database_command import DatabaseCommand
from designer.platform_failures import failure_words
from runtime.describe.fragment_digests import Digests
from runtime.describe.fragment_maker import Maker, sweep
from runtime.serving.served import Served, current

logger = logging.getLogger("portico.introspection")

IDLE_SECONDS = 600.0
# Below everything that answers a caller.
NICENESS = 19


class Command(DatabaseCommand):
    help = __doc__
    # The server that starts it has just checked the same.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--serve",
            action="store_true",
            help="Do it for every line on standard input, until that ends or nothing comes for 10 minutes.",
        )

    def handle(self, *args: Any, serve: bool, **options: Any) -> None:
        """Make the missing descriptions once or, with `serve`, for every line on standard input.

        Raises CommandError when they cannot be made, because the platform does not return its metadata.
        """
        digests = Digests()
        if serve:
            os.nice(NICENESS)
            while _wait_for_request(IDLE_SECONDS):
                _make_if_platform_answers(digests)
            return
        try:
            served = current()
            made_count, removed_count = _make_missing(served, digests), sweep(served, digests)
        except PlatformError as error:
            raise CommandError(
                f"The platform does not return its metadata: {failure_words(error)}\n"
                "manage.py checkplatform tries the way there step by step."
            ) from error
        self.stdout.write(f"{made_count} made, {removed_count} of former days removed.")


def _make_if_platform_answers(digests: Digests) -> None:
    """Make the missing descriptions of what is served now. A platform that does not answer is only logged."""
    try:
        _make_missing(current(), digests, _is_wanted)
    except PlatformError as error:
        # A reader who still lacks something asks again.
        logger.warning("Descriptions could not be made.", extra={"reason": for_log(error)})


def _make_missing(served: Served, digests: Digests, go_on: Callable[[], bool] = lambda: True) -> int:
    """Make the missing descriptions, until `go_on` returns False. Return how many were missing."""
    maker = Maker(digests)
    missing = maker.missing(served)
    with _rare_collections():
        maker.make(served, missing, go_on)
    return len(missing)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage rarely in this block.

    Descriptions are many small objects without cycles, and looking for garbage took a quarter of the time.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def _wait_for_request(seconds: float) -> bool:
    """Wait up to `seconds` for lines, and read all. Return False when the parent has closed its end."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready) and bool(os.read(sys.stdin.fileno(), 65536))


def _is_wanted() -> bool:
    """Whether the process that asked still runs: it holds the other end.

    Lines that have come meanwhile are read, too: a reader who still lacks something asks again.
    """
    ready, _, _ = select.select([sys.stdin], [], [], 0)
    return not ready or bool(os.read(sys.stdin.fileno(), 65536))

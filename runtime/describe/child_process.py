"""The child process that makes fragments: `manage.py describe`, started when it is needed."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress

from django.conf import settings

logger = logging.getLogger("portico.introspection")


class Workshop:
    """At most one child of a process that serves. It ends when it has been idle for a while, or with that.

    A process that serves nobody has none: it makes what it needs itself.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        """From now on this process serves: it must not be kept from that."""
        self.is_open = True

    def ask(self) -> None:
        """Have all that is missing made. Does not wait, and asking again is cheap."""
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._child = _start()
            # A full pipe is asking enough; a child that has just ended is found the next time.
            with suppress(OSError):
                os.write(self._child.stdin.fileno(), b"\n")  # type: ignore[union-attr]


def _start() -> subprocess.Popen[bytes]:
    logger.info("starting a process that describes endpoints")
    child = subprocess.Popen(  # noqa: S603  our own command
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "describe", "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # Out of reach of Ctrl-C, but in our session: where Linux shares processor time among sessions, one of
        # its own would be given half of it, however nice the child is.
        process_group=0,
    )
    os.set_blocking(child.stdin.fileno(), False)  # type: ignore[union-attr]
    return child


WORKSHOP = Workshop()

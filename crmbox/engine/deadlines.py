"""The caller's deadline, looked at before each step that takes time."""

from __future__ import annotations

import time

from crmclient.errors import DeadlineExceeded
from crmclient.platform import Call


def in_time(call: Call) -> None:
    """Raises DeadlineExceeded when the call should have ended by now."""
    if call.deadline is not None and time.monotonic() >= call.deadline:
        raise DeadlineExceeded("The call's deadline has passed.")

"""The places of the client of Dataverse, and the queue for them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from crmclient.dataverse.http.bulkhead import Bulkhead
from crmclient.dataverse.http.observer import Silent
from crmclient.platform import Share


class SlowEvent(threading.Event):
    """An event that is set in two steps: `reached`, and after `released`, the event itself."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.released = threading.Event()

    def set(self) -> None:
        self.reached.set()
        self.released.wait(10)
        super().set()


def test_who_is_just_being_admitted_is_not_refused() -> None:
    """A refusal at this moment would lose the place for ever: it is given, and nobody gives it back."""
    bulkhead = Bulkhead(1, Silent())
    assert bulkhead._enter(Share.READS) is None
    waiting = bulkhead._enter(Share.READS)
    assert waiting is not None
    slow = waiting.admitted = SlowEvent()

    with ThreadPoolExecutor(2) as threads:
        leaving = threads.submit(bulkhead._leave, Share.READS)
        assert slow.reached.wait(10)
        admission = threads.submit(bulkhead._wait, waiting, 5.0)
        time.sleep(0.1)
        slow.released.set()
        leaving.result(10)
        assert admission.result(10)

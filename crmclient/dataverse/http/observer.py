"""Tells metrics what happens to requests. `crmclient` counts nothing itself."""

from __future__ import annotations

from typing import Protocol

from crmclient.platform import Call


class Observer(Protocol):
    """Called from any thread; must be quick and must not raise."""

    def attempted(self, method: str, outcome: str, seconds: float) -> None:
        """Note that an attempt has ended. `outcome` is a status, or `unreachable`, `lost` or `timeout`."""
        ...

    def retried(self, reason: str) -> None:
        """Note that another attempt follows. `reason` is the outcome of the attempt before."""
        ...

    def waited(self, seconds: float, *, admitted: bool) -> None:
        """Note that a request has waited `seconds` for its turn, and whether it was `admitted`."""
        ...

    def circuit(self, *, open: bool) -> None:
        """Note that the circuit has opened, or has closed again."""
        ...

    def throttled(self, seconds: float, *, asked_seconds: float) -> None:
        """Note that nothing is sent for `seconds` from now on. The platform asked for
        `asked_seconds`, which may be more.
        """
        ...

    def spent(self, call: Call) -> None:
        """Note that a request of the call is sent and counts for the budget."""
        ...

    def refused(self, call: Call) -> None:
        """Note that a request of the call is not sent, because the budget is used up or paused."""
        ...


class Silent:
    """An observer that does nothing."""

    def attempted(self, method: str, outcome: str, seconds: float) -> None:
        pass

    def retried(self, reason: str) -> None:
        pass

    def waited(self, seconds: float, *, admitted: bool) -> None:
        pass

    def circuit(self, *, open: bool) -> None:
        pass

    def throttled(self, seconds: float, *, asked_seconds: float) -> None:
        pass

    def spent(self, call: Call) -> None:
        pass

    def refused(self, call: Call) -> None:
        pass

"""What happens on the way to the platform, for metrics. `crmclient` counts nothing itself."""

from __future__ import annotations

from typing import Protocol

from crmclient.platform import Call


class Observer(Protocol):
    """Called from any thread; must be quick and must not raise."""

    def attempted(self, method: str, outcome: str, seconds: float) -> None:
        """One attempt has ended: `outcome` is a status, or `unreachable`, `lost` or `timeout`."""
        ...

    def retried(self, reason: str) -> None:
        """Another attempt follows; `reason` is the outcome of the one before."""
        ...

    def waited(self, seconds: float, *, admitted: bool) -> None:
        """A request has waited for its turn, and got it or not."""
        ...

    def circuit(self, *, open: bool) -> None:
        """The circuit has opened, or closed again."""
        ...

    def throttled(self, seconds: float, *, asked: float) -> None:
        """Nothing is sent for `seconds` from now on: the platform has `asked` for as much, or for more."""
        ...

    def spent(self, call: Call) -> None:
        """A request of the call is sent: the budget pays for it."""
        ...

    def refused(self, call: Call) -> None:
        """A request of the call is not sent: the budget is used up, or rests."""
        ...


class Silent:
    """An observer that looks away."""

    def attempted(self, method: str, outcome: str, seconds: float) -> None:
        pass

    def retried(self, reason: str) -> None:
        pass

    def waited(self, seconds: float, *, admitted: bool) -> None:
        pass

    def circuit(self, *, open: bool) -> None:
        pass

    def throttled(self, seconds: float, *, asked: float) -> None:
        pass

    def spent(self, call: Call) -> None:
        pass

    def refused(self, call: Call) -> None:
        pass

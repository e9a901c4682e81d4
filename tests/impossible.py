"""What a machine cannot do, whatever is installed on it."""

from __future__ import annotations

from _pytest.outcomes import Skipped


class ImpossibleHere(Skipped):
    """Skips a test, and is no failure with REQUIRE_ALL=1 either: no tool could be installed to mend it."""

"""The largest size of a query, on every platform."""

from __future__ import annotations

from typing import Final

MOST_LINKS: Final = 15
MOST_CONDITIONS: Final = 500
"""Of both as many as Dataverse takes."""
MOST_VALUES: Final = 2000
"""Of one condition."""
MOST_COLUMNS: Final = 500
MOST_KEYS: Final = 64
"""The most columns that rows are sorted by; distinct rows are sorted by all that they have. Each nests the
condition of a page once more; databases bound that depth."""

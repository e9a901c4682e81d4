"""What queries say differently on each database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crmbox.engine.sql.dialects.base import Phrases
from crmbox.engine.sql.dialects.postgres import PostgreSQLPhrases
from crmbox.engine.sql.dialects.sqlite import SQLitePhrases

PHRASES: Final[Mapping[str, Phrases]] = {"sqlite": SQLitePhrases(), "postgresql": PostgreSQLPhrases()}
"""By `Dialect.name`."""

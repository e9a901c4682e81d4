"""What queries say differently on each database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crmclient.embedded.compile.dialects.base import Phrases
from crmclient.embedded.compile.dialects.postgres import PostgreSQLPhrases
from crmclient.embedded.compile.dialects.sqlite import SQLitePhrases

PHRASES: Final[Mapping[str, Phrases]] = {"sqlite": SQLitePhrases(), "postgresql": PostgreSQLPhrases()}
"""By `Dialect.name`."""

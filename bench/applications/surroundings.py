"""What the bench tells an application through its environment."""

from __future__ import annotations

import os
from pathlib import Path

from bench.world import World

DATABASE_URL = os.environ["BENCH_DATABASE_URL"]
RATE_A_MINUTE = int(os.environ["BENCH_RATE"])
WORLD = World.read(Path(os.environ["BENCH_WORLD"]))
INDUSTRIES = frozenset(choice.value for choice in WORLD.industries)
# Money is kept as a whole number of ten-thousandths, the range of the platform's currency type.
MONEY_PLACES = 4
MONEY_UNITS = 10**MONEY_PLACES

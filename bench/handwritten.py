"""The hand-written applications: their database, their environment, and a look into what they stored."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg

from bench.servers import ROOT

RATE = "100000000"
_STORED = "SELECT name, phone, revenue, industry, primary_contact_id FROM account WHERE id = "


def environment(url: str, world: Path) -> dict[str, str]:
    return {"BENCH_DATABASE_URL": url, "BENCH_WORLD": str(world), "BENCH_RATE": RATE}


def seed(url: str, world: Path) -> None:
    """Make and fill the tables that all of them use."""
    subprocess.run(
        [sys.executable, "-m", "bench.applications.stock.seed"],
        cwd=ROOT,
        env={**os.environ, **environment(url, world)},
        check=True,
    )


def stored(url: str, key: str) -> Mapping[str, Any]:
    """The account's row, around the application."""
    if url.startswith("sqlite"):
        import sqlite3

        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        row = connection.execute(_STORED + "?", [uuid.UUID(key).hex]).fetchone()
        connection.close()
    else:
        with psycopg.connect(url) as opened:
            row = opened.execute(_STORED + "%s", [uuid.UUID(key)]).fetchone()  # type: ignore[assignment]
    name, phone, units, industry, contact = row
    return {
        "name": name,
        "phone": phone,
        "revenue": None if units is None else str(Decimal(units).scaleb(-4)),
        "industry": industry,
        "contact": None if contact is None else str(uuid.UUID(str(contact))),
    }

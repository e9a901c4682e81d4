"""The hand-written applications: their database, their environment, and a look into what they stored."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg

from bench.processes import run_python
from bench.world import PEOPLE

RATE = "100000000"
# The ids of the people of the bench's world, in the order in which they are made.
ACCOUNTS = {name: number for number, name in enumerate(PEOPLE, start=1)}
SEED = "import django; django.setup(); from bench.applications.stock.seed import seed; seed()"
_STORED = "SELECT name, phone, revenue, industry, primary_contact_id FROM account WHERE id = "


def environment(url: str, world: Path) -> dict[str, str]:
    return {"BENCH_DATABASE_URL": url, "BENCH_WORLD": str(world), "BENCH_RATE": RATE}


def seed(url: str, world: Path) -> None:
    """Make and fill the tables that all of them use."""
    settings = {"DJANGO_SETTINGS_MODULE": "bench.applications.stock.settings"}
    run_python({**environment(url, world), **settings}, "-c", SEED)


def stored(url: str, key: str) -> Mapping[str, Any]:
    """The account's row, around the application."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        row = connection.execute(_STORED + "?", [uuid.UUID(key).hex]).fetchone()
        connection.close()
    else:
        with psycopg.connect(url) as opened:
            row = opened.execute(_STORED + "%s", [uuid.UUID(key)]).fetchone()
    name, phone, units, industry, contact = row
    return {
        "name": name,
        "phone": phone,
        "revenue": None if units is None else str(Decimal(units).scaleb(-4)),
        "industry": industry,
        "contact": None if contact is None else str(uuid.UUID(str(contact))),
    }

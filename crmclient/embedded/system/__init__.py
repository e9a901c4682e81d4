"""The entities that every CRM has: users, business units, teams, roles and notes."""

from __future__ import annotations

from typing import Any


def install_after_migrate(**_: Any) -> None: ...

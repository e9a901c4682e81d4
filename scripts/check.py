"""Run every static check, show what each says, and fail when any fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
PYTHON = str(BIN / "python")

CHECKS = {
    "ruff": [PYTHON, "-m", "ruff", "check", "."],
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "mypy": [PYTHON, "-m", "mypy", "."],
    "imports": [str(BIN / "lint-imports")],
    "django": [PYTHON, "manage.py", "check", "--fail-level", "WARNING"],
    "migrations": [PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"],
}


def main() -> None:
    environment = {"PORTICO_MODE": "development", **os.environ}
    failed = [name for name, command in CHECKS.items() if not passes(name, command, environment)]
    if failed:
        sys.exit("Failed: " + ", ".join(failed))


def passes(name: str, command: list[str], environment: dict[str, str]) -> bool:
    print(f"== {name}", flush=True)
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


if __name__ == "__main__":
    main()

"""Lock what requirements files bring along: each package's version, with the hashes of its files.

    make lock

Writes a `.lock` beside each requirements file, for every supported Python at once, with the same versions in
all of them. `scripts/install.py` installs from these.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scripts.install import lock_of

ROOT = Path(__file__).resolve().parent.parent
OLDEST = "3.11"
# The widest first: what it needs at once is what the others get, too.
WIDEST = "requirements-dev.txt"
FILES = (WIDEST, "requirements.txt", "requirements-otel.txt", "bench/requirements.txt")
OPTIONS = (
    "--universal",
    "--python-version",
    OLDEST,
    "--generate-hashes",
    "--no-annotate",
    "--no-emit-index-url",
)
HEADER = "# Made by `make lock` from {name}. Do not edit.\n"


def main() -> None:
    for name in FILES:
        target = lock_of(ROOT / name)
        keeping = [] if name == WIDEST else ["--constraint", str(lock_of(ROOT / WIDEST))]
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            *OPTIONS,
            *keeping,
            "--no-header",
            "--quiet",
            name,
        ]
        made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if made.returncode:
            sys.exit(f"Locking {name} failed, and {target.name} is as it was:\n{made.stderr}")
        target.write_text(HEADER.format(name=name) + made.stdout, encoding="utf-8")
        print(f"{target.relative_to(ROOT)} is up to date.")


if __name__ == "__main__":
    main()

"""Make .venv and install requirements files into it, unless exactly these are installed already.

    python3 scripts/install.py requirements.txt [more.txt …]

Runs on the standard library alone, with whatever Python 3 is there, so that a wrong version gets a sentence
instead of a traceback. What is installed is noted in .venv/installed/, one digest a file: a second run reads
these and ends.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
NOTES = VENV / "installed"
OLDEST = (3, 11)


def main(names: list[str]) -> None:
    if sys.version_info < OLDEST:
        sys.exit(
            f"Portico needs Python {OLDEST[0]}.{OLDEST[1]} or newer; {sys.executable} is "
            f"{sys.version.split()[0]}. Name a newer one: make run PYTHON=/path/to/python3.11"
        )
    python = interpreter()
    wanted = {name: digest(ROOT / name) for name in closure(names)}
    if all(noted(name) == value for name, value in wanted.items()):
        return
    print(f"Installing {', '.join(names)} into .venv: this takes a minute or two, once.", flush=True)
    files = [argument for name in names for argument in ("-r", str(ROOT / name))]
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", *files]
    if subprocess.run(command, check=False).returncode:
        sys.exit("Installing failed; pip's message above says why. Mend it and run the same command again.")
    NOTES.mkdir(exist_ok=True)
    for name, value in wanted.items():
        note_of(name).write_text(value, encoding="ascii")


def interpreter() -> Path:
    """The virtual environment's Python; the environment is made anew when it is missing or no longer runs."""
    python = VENV / "bin" / "python"
    works = python.exists() and subprocess.run([str(python), "-c", ""], check=False).returncode == 0
    if not works:
        print("Making the virtual environment .venv", flush=True)
        try:
            venv.create(VENV, clear=True, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"Cannot make .venv: {error}. On Debian and Ubuntu, install the package python3-venv.")
    return python


def closure(names: list[str]) -> list[str]:
    """The files named, and those they include with `-r`."""
    found: list[str] = []
    for name in names:
        found.append(name)
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if line.startswith("-r "):
                included = (ROOT / name).parent / line[3:].strip()
                found += closure([included.resolve().relative_to(ROOT).as_posix()])
    return found


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def note_of(name: str) -> Path:
    return NOTES / name.replace("/", "-")


def noted(name: str) -> str | None:
    note = note_of(name)
    return note.read_text(encoding="ascii") if note.exists() else None


if __name__ == "__main__":
    main(sys.argv[1:])

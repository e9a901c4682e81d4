"""Make .venv and install what is locked for requirements files, unless exactly this is installed already.

    "$(scripts/python)" scripts/install.py [--with-this-python] requirements.txt [more.txt …]

pip checks the hash of every file that it downloads (`make lock` writes them).

Runs on the standard library alone. What is installed is noted in .venv/installed/, one digest a file: a
second run reads these and ends. An environment that works is kept, whichever supported Python it was made
with; `--with-this-python` makes it anew if that was another.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
NOTES = VENV / "installed"
VERSION = ".".join(map(str, sys.version_info[:2]))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--with-this-python", action="store_true")
    parser.add_argument("names", nargs="+")
    given = parser.parse_args(arguments)
    names: list[str] = given.names
    python = interpreter(exactly=VERSION if given.with_this_python else None)
    wanted = {name: digest(ROOT / name) + digest(lock_of(ROOT / name)) for name in closure(names)}
    if all(noted(name) == value for name, value in wanted.items()):
        return
    print(f"Installing {', '.join(names)} into .venv: this takes a minute or two, once.", flush=True)
    files = [argument for name in names for argument in ("-r", str(lock_of(ROOT / name)))]
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--require-hashes", *files]
    if subprocess.run(command, check=False).returncode:
        sys.exit("Installing failed; pip's message above says why. Mend it and run the same command again.")
    NOTES.mkdir(exist_ok=True)
    for name, value in wanted.items():
        note_of(name).write_text(value, encoding="ascii")


def interpreter(exactly: str | None = None) -> Path:
    """The virtual environment's Python; the environment is made anew when its Python is missing or another.

    `exactly` is the only version that will do, as "3.12".
    """
    python = VENV / "bin" / "python"
    made_for, runs = environment_version(), running_version(python)
    if made_for is None or made_for != runs or exactly not in (None, runs):
        print(f"Making the virtual environment .venv with Python {VERSION}", flush=True)
        try:
            venv.create(VENV, clear=True, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"Cannot make .venv: {error}. On Debian and Ubuntu, install the package python3-venv.")
    return python


def environment_version() -> str | None:
    """The Python that .venv was made with, as "3.12". An upgrade of the system makes `bin/python` newer."""
    try:
        written = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return None
    versions = [line.partition("=")[2].strip() for line in written.splitlines() if line.startswith("version")]
    return ".".join(versions[0].split(".")[:2]) if versions else None


def running_version(python: Path) -> str | None:
    """The version of an interpreter, as "3.12"; None when it does not run."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run(
            [str(python), "-c", ask], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def closure(names: list[str]) -> list[str]:
    """The files named, and those they include with `-r`."""
    files: list[str] = []
    for name in names:
        files.append(name)
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if line.startswith("-r "):
                included = (ROOT / name).parent / line[3:].strip()
                files += closure([included.resolve().relative_to(ROOT).as_posix()])
    return files


def lock_of(requirements: Path) -> Path:
    """The file with the exact versions and hashes of what a requirements file asks for."""
    return requirements.with_suffix(".lock")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def note_of(name: str) -> Path:
    return NOTES / name.replace("/", "-")


def noted(name: str) -> str | None:
    note = note_of(name)
    return note.read_text(encoding="ascii") if note.exists() else None


if __name__ == "__main__":
    main(sys.argv[1:])

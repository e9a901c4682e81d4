"""npm packages, installed once on a machine: the generators of clients and the tests use the same.

They are kept outside the checkout, in $XDG_CACHE_HOME/portico/npm or ~/.cache/portico/npm, in a folder for
each set of packages and versions; whoever wants the room may remove it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scripts.running import Failed, run

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "portico" / "npm"
# Packages' own scripts are nobody's business here.
_OPTIONS = ("--no-audit", "--no-fund", "--ignore-scripts")
_LOCKED = ("package.json", "package-lock.json")


class NotInstalled(Exception):
    """The text says why packages cannot be had: no npm, or what it said."""


def packages(*specifications: str) -> Path:
    """A folder whose `node_modules` holds `specifications`, such as `typescript@5.9.3`.

    Raises NotInstalled.
    """
    return _installed({}, "install", "--no-save", *specifications)


def locked(project: Path) -> Path:
    """The same, of the package.json and package-lock.json of `project`."""
    return _installed({name: (project / name).read_bytes() for name in _LOCKED}, "ci")


def _installed(files: Mapping[str, bytes], *command: str) -> Path:
    key = hashlib.sha256("\n".join(command).encode() + b"\n".join(files.values())).hexdigest()[:20]
    folder = CACHE / key
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as making:
            made = Path(making) / key
            made.mkdir()
            for name, content in files.items():
                (made / name).write_bytes(content)
            _npm(made, command)
            # Somebody else may have been quicker, with the same.
            with suppress(OSError):
                made.rename(folder)
    return folder


def _npm(folder: Path, command: tuple[str, ...]) -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise NotInstalled("There is no node, or no npm.")
    try:
        run(["npm", *command, "--prefix", str(folder), *_OPTIONS], folder)
    except Failed as error:
        raise NotInstalled(f"npm installs nothing here: {error.output[-300:]}") from error

"""The release before this one, taken from the repository's own history."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.impossible import ImpossibleHere
from tests.servers import ROOT

# The subject of a commit that makes a release, such as “Release 0.2.0, with a changelog”.
_SUBJECT = r"^Release [0-9]+\.[0-9]+\.[0-9]+"


def released_before(folder: Path) -> str:
    """Put the code of the newest release before today's into `folder`. Gives the subject of its commit."""
    # Of the commit that is the release itself, the one before is wanted.
    release = _git("log", "-1", "--extended-regexp", f"--grep={_SUBJECT}", "--format=%H %s", "HEAD^")
    commit, _, subject = release.partition(" ")
    if not commit:
        raise ImpossibleHere("There is no release in this copy's history: git fetch --unshallow brings it.")
    folder.mkdir()
    archive = folder.with_suffix(".tar")
    _git("archive", f"--output={archive}", commit)
    subprocess.run(["tar", "--extract", f"--file={archive}", f"--directory={folder}"], check=True)
    return subject.strip()


def _git(*arguments: str) -> str:
    """What git says; nothing where there is no git, no repository or no such commit."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""

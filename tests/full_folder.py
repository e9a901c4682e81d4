"""A folder on a file system of its own, which is soon full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for half of a large file."""
    folder = tmp_path / "full"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("Only root can mount a file system")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("No file system can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)

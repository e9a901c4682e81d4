"""The number of a release as an argument of a command."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

# What the columns hold on every database.
_LARGEST = 2_147_483_647


def release_number(text: str) -> tuple[int, int]:
    """Return the major and minor number in `text`, such as `1.4`. Raises ArgumentTypeError."""
    match = re.fullmatch(r"([0-9]{1,10})\.([0-9]{1,10})", text)
    if match is None or max(map(int, match.groups())) > _LARGEST:
        raise ArgumentTypeError(f"“{text}” is no number of a release. Write two whole numbers, such as 1.4.")
    return int(match[1]), int(match[2])

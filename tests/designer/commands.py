"""Management commands, and what they say."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command


def run(name: str, *arguments: object) -> str:
    """The output of a command that succeeds."""
    out = io.StringIO()
    call_command(name, *map(str, arguments), stdout=out)
    return out.getvalue()


def refused(name: str, *arguments: object, code: int = 1) -> str:
    """What a command says, on either stream, that ends with the exit code `code`."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(name, *map(str, arguments), stdout=out)
    assert caught.value.returncode == code
    return f"{out.getvalue()}{caught.value}"

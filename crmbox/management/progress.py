"""The progress of a long command: one line that counts up on a terminal, and lines elsewhere."""

from __future__ import annotations

from django.core.management.base import OutputWrapper


class Progress:
    """Shows progress. `name` begins every line.

    Elsewhere than on a terminal, only the ends are shown, unless `every_step`.
    """

    def __init__(self, stdout: OutputWrapper, name: str, *, every_step: bool = False) -> None:
        self._stdout = stdout
        self._name = name
        self._every_step = every_step

    def show(self, phase: str, done: int, total: int | None = None) -> None:
        """Show that `done` of `total` are done; `total` is None where it is not known."""
        line = f"{self._name}: {phase.lower()} {done:,}" + ("" if total is None else f" of {total:,}")
        if self._stdout.isatty():
            self._stdout.write(f"\r{line}", ending="\n" if done == total else "")
            self._stdout.flush()
        elif done == total or self._every_step:
            self._stdout.write(line)
            self._stdout.flush()

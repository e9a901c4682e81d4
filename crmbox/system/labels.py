"""Labels of the system's entities, in the languages that the engine itself speaks."""

from __future__ import annotations

from crmclient.metadata import Label


def label(english: str, german: str, arabic: str) -> Label:
    return Label({1033: english, 1031: german, 1025: arabic})

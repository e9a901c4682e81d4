"""Fetch the metadata of a remote platform anew."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, OutputWrapper

from crmclient import KeepsMetadata
from crmclient.durations import duration
from crmclient.errors import PlatformError
from crmclient.metadata_parts import parts_by_privilege, parts_in_words
from crmclient.metadata_progress import ProgressNotes, noting_progress
from designer.management.json_command import JsonCommand
from designer.platform import get_platform

_RESULTS = {
    "changed": "What is known of the metadata has changed.",
    "unchanged": "What is known of the metadata is as it was.",
    "always_present": "The platform's metadata is always up to date.",
}

_TELL_SECONDS: Final = 5.0
"""Seconds from one line about what is being asked for to the next. A refresh that is quick needs none."""


class Command(JsonCommand):
    help = "Fetch the platform's metadata anew: entities, attributes, option sets, relationships, processes."

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        """Fetch the metadata, and say what is not known for want of a privilege. Raises CommandError when the
        platform does not answer.
        """
        platform = get_platform()
        result = "always_present"
        missing: dict[str, str] = {}
        if isinstance(platform, KeepsMetadata):
            with _telling_progress(self.stderr):
                result = "changed" if _refresh(platform) else "unchanged"
            missing = dict(platform.missing_privileges())
        if as_json:
            self.write_json({"result": result, "missing_privileges": missing})
            return
        self.stdout.write(_RESULTS[result])
        for privilege, parts in parts_by_privilege(missing.items()).items():
            self.stdout.write(
                f"Not known: {parts_in_words(parts)}. The service's account lacks "
                f"{privilege or 'a privilege that Dataverse does not name'}. "
                "Add it to a security role of the account, then run this command again."
            )


def _refresh(platform: KeepsMetadata) -> bool:
    """Return whether anything is different. Raises CommandError when the platform does not answer."""
    try:
        return platform.refresh_metadata()
    except PlatformError as error:
        # Not loaded by a service that has its platform in the box.
        from crmclient.dataverse.advice import advice_on

        raise CommandError(
            f"The platform does not tell its metadata: {error} {advice_on(error)}\n"
            "What was known of it stays in use. manage.py checkplatform tries the way there step by step."
        ) from error


@contextmanager
def _telling_progress(stderr: OutputWrapper) -> Iterator[None]:
    """In this block, tell every `_TELL_SECONDS` what the platform is being asked for."""
    over = threading.Event()
    with noting_progress() as notes:
        telling = threading.Thread(target=_tell, args=[stderr, notes, over], daemon=True)
        telling.start()
        try:
            yield
        finally:
            over.set()
            # No line comes after the result.
            telling.join()


def _tell(stderr: OutputWrapper, notes: ProgressNotes, over: threading.Event) -> None:
    """Write a line about the progress, again and again until `over` is set."""
    began = time.monotonic()
    longest = duration(settings.PORTICO["METADATA_TIMEOUT"])
    while not over.wait(_TELL_SECONDS):
        progress = notes.progress()
        asked = parts_in_words(progress.asked)
        stderr.write(
            f"After {duration(round(time.monotonic() - began))}: "
            + (f"the platform is being asked for: {asked}. " if asked else "the platform is being asked. ")
            + f"{progress.done} of {progress.total} parts have come. "
            + f"Each request may take {longest} (METADATA_TIMEOUT)."
        )
        stderr.flush()

"""Fetch the metadata of a remote platform anew."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from crmclient import KeepsMetadata
from crmclient.errors import PlatformError
from crmclient.metadata_parts import parts_by_privilege, parts_in_words
from designer.management.json_command import JsonCommand
from designer.platform import get_platform

_RESULTS = {
    "changed": "What is known of the metadata has changed.",
    "unchanged": "What is known of the metadata is as it was.",
    "always_present": "The metadata of the CRM in the box is always the present one.",
}


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

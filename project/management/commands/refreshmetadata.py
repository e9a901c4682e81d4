"""Fetch the metadata of a remote platform anew."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crmclient import KeepsMetadata
from crmclient.errors import PlatformError
from designer.platform import get_platform


class Command(BaseCommand):
    help = "Fetch the platform's metadata anew: entities, attributes, option sets, relationships, processes."

    def handle(self, *args: Any, **options: Any) -> None:
        """Fetch the metadata, and say what is not known for want of a privilege. Raises CommandError when the
        platform does not answer.
        """
        platform = get_platform()
        if not isinstance(platform, KeepsMetadata):
            self.stdout.write("The embedded platform's metadata is always the present one.")
            return
        try:
            changed = platform.refresh_metadata()
        except PlatformError as error:
            # Not loaded by a service that has its platform in the box.
            from crmclient.dataverse.advice import advice_on

            raise CommandError(
                f"The platform does not tell its metadata: {error} {advice_on(error)}\n"
                "What was known of it stays in use. manage.py checkplatform tries the way there step by step."
            ) from error
        self.stdout.write("The metadata has changed." if changed else "The metadata is as it was.")
        for part, privilege in platform.missing_privileges().items():
            self.stdout.write(
                f"Not known: {part}. The service's account lacks {privilege or 'a privilege'}. "
                "Add it to a security role of the account, then run this command again."
            )

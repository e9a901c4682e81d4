"""Make a release of the configuration as it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import IntegrityError, transaction

from designer.audit import note_account
from designer.documents.problems import DocumentError
from designer.management.json_command import JsonCommand, Refusal
from designer.management.release_number import release_number
from designer.models import AuditEntry, Release
from designer.releases.next_release import Proposal, propose


class Command(JsonCommand):
    help = (
        "Make a release of the configuration as it is. Its number and changelog are proposed from what has "
        "changed since the last one: a breaking change asks for the next major number, anything else for the "
        "next minor one. What is served stays as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--number",
            type=release_number,
            help="Its number, such as 1.4. Default: the one that is proposed.",
        )
        parser.add_argument("--name", default="", help="The name that people read, such as Spring.")
        parser.add_argument(
            "--changelog",
            metavar="FILE",
            help="A file with the changelog, or - for standard input. Default: the one that is proposed.",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Show the number and the changelog; make nothing."
        )
        super().add_arguments(parser)

    def handle(
        self,
        *args: Any,
        number: tuple[int, int] | None,
        name: str,
        changelog: str | None,
        dry_run: bool,
        as_json: bool,
        **options: Any,
    ) -> None:
        own_changelog = None if changelog is None else _text_of(changelog)
        try:
            # What is copied is what is there at this moment, and nothing may come between.
            with transaction.atomic():
                proposal = propose()
                major, minor = number or proposal.number
                text = proposal.changelog() if own_changelog is None else own_changelog
                release = proposal.release(major=major, minor=minor, name=name, changelog=text)
                release.full_clean()
                if not dry_run:
                    release.save()
                    note_account("", AuditEntry.Action.RELEASE, release, "makerelease")
        except DocumentError as error:
            raise Refusal("No release was made.", error.problems) from error
        except ValidationError as error:
            lines = [
                message if field == NON_FIELD_ERRORS else f"--{field}: {message}"
                for field, messages in error.message_dict.items()
                for message in messages
            ]
            raise Refusal("No release was made.", lines) from error
        except IntegrityError as error:
            made_already = f"Somebody has just made release {release.number}: try again."
            raise Refusal("No release was made.", [made_already]) from error
        self._write_result(release, proposal, dry_run=dry_run, as_json=as_json)

    def _write_result(self, release: Release, proposal: Proposal, *, dry_run: bool, as_json: bool) -> None:
        """Write which release was made, or would be, with its changelog."""
        since = proposal.since
        if as_json:
            report = {
                "result": "planned" if dry_run else "made",
                "release": release.number,
                "name": release.name,
                "since": None if since is None else since.number,
                "effect": proposal.effect.value if proposal.differences else None,
                "changelog": release.changelog,
            }
            self.write_json(report)
            return
        if release.changelog:
            self.stdout.write(release.changelog)
        if since is not None and not proposal.differences:
            self.stdout.write(f"Nothing has changed since release {since}.")
        if dry_run:
            self.stdout.write(f"It would be release {release}. This was a dry run: nothing was made.")
        else:
            self.stdout.write(f"Release {release} is made.")


def _text_of(file: str) -> str:
    """Return the text of a file, or of standard input for `-`. Raises CommandError."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        text = raw.decode().strip()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is no text in UTF-8. Save it as UTF-8.") from error
    if "\0" in text:
        raise CommandError(f"{file} contains a NUL character. Remove it.")
    return text

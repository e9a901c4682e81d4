"""Fragments in the database, by digest, for all processes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping

from django.db import models

# More digests than this are asked for in several statements.
AT_ONCE = 250
# A release that is being replaced still needs its own.
KEPT = dt.timedelta(days=1)


class DescriptionFragment(models.Model):
    """A fragment as `describe.fragments.make_fragment` made it.

    `digest` stands for the definition, the metadata and the program that it was made from.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()
    made = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        app_label = "runtime"

    def __str__(self) -> str:
        return f"{self.digest[:12]}…"


def read_fragments(digests: Collection[str]) -> Mapping[str, bytes]:
    """Return the contents of the fragments that are stored, by digest."""
    rows = DescriptionFragment.objects.filter(digest__in=digests).values_list("digest", "content")
    return {digest: bytes(content) for digest, content in rows}


def stored_digests(digests: Collection[str]) -> set[str]:
    """Return those of `digests` whose fragments are stored."""
    return set(DescriptionFragment.objects.filter(digest__in=digests).values_list("digest", flat=True))


def store_fragments(contents: Mapping[str, bytes]) -> None:
    """Store fragments by digest. A fragment that another process has stored already is the same, and
    stays.
    """
    rows = [DescriptionFragment(digest=digest, content=content) for digest, content in contents.items()]
    DescriptionFragment.objects.bulk_create(rows, ignore_conflicts=True)


def remove_old_fragments(digests_in_use: Collection[str]) -> int:
    """Remove the fragments that are a day old and not among `digests_in_use`. Return their number."""
    old = DescriptionFragment.objects.filter(made__lt=dt.datetime.now(dt.UTC) - KEPT)
    outdated = [digest for digest in old.values_list("digest", flat=True) if digest not in digests_in_use]
    for start in range(0, len(outdated), AT_ONCE):
        DescriptionFragment.objects.filter(digest__in=outdated[start : start + AT_ONCE]).delete()
    return len(outdated)

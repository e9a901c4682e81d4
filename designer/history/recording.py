"""Recording versions. Whatever changes the configuration on purpose does it inside `recording`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db import transaction
from django.dispatch import Signal

from designer.configuration import Configuration, Revision
from designer.documents.protection import protection_refusals
from designer.history.administration import administration_refusals
from designer.history.audited_access import note_access_changes
from designer.history.broken_callers import CallersUnanswered, open_questions
from designer.history.effects import Effect, worst
from designer.history.item_keys import any_of
from designer.history.items import Item, ItemKey, items_of, unreadable_keys
from designer.history.last_enabled_access import remember
from designer.history.refused_changes import ProtectionRefused
from designer.history.renamed_items import follow_renames
from designer.history.wording import lines
from designer.history.write_access import WriteAccessRefused, refusals
from designer.loading import latest
from designer.models import ItemChange, RecordedItem, RecordedRevision, Version
from designer.overview import overview
from designer.platform import get_platform
from designer.query_chunks import CHUNK, chunks
from designer.readiness import Metadata
from designer.readiness.drift import facts_of
from designer.readiness.findings import Finding

Origin: TypeAlias = Version.Origin
LONGEST_NOTE = 500

# Sent in the transaction of a version, with the `version` and its `changes`, for what hangs on items and is
# no part of the configuration.
version_recorded = Signal()

# The id of the only row of `RecordedRevision`.
_ROW = 1


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes the configuration (an account's name, empty when unknown), in which way, and why.

    `address` is the account's network address, for the audit log. `may_change_write_access`: the account may
    decide who calls endpoints that write. `may_administer`: it may change caller types and issuers.
    `publishes`: the change publishes a proposal, or takes a publication back. `answered` are the questions
    about callers (`QUESTIONS`) to which somebody has said yes.
    """

    account: str = ""
    origin: Version.Origin = Version.Origin.STUDIO
    note: str = ""
    may_change_write_access: bool = False
    may_administer: bool = False
    publishes: bool = False
    address: str = ""
    answered: Collection[str] = ()


@dataclass(slots=True)
class Recorded:
    """The number of the recorded version, known after the transaction; None when nothing changed."""

    version: int | None = None


@contextmanager
def recording(author: Author) -> Iterator[Recorded]:
    """Open a transaction whose changes of the configuration become one version.

    Earlier changes made outside the studio are recorded first, as a version of their own, so that they are
    not taken for the author's. Without a change there is no version. Raises ProtectionRefused,
    WriteAccessRefused, and CallersUnanswered.
    """
    # Before the transaction: while the platform is asked about what is there, nobody waits for the database.
    overview()
    with transaction.atomic():
        _record_version(Author(origin=Version.Origin.OUTSIDE))
        before = latest()
        recorded = Recorded()
        yield recorded
        # Checked here and not in each form, because every way to change the configuration ends here.
        now = latest()
        if not author.publishes and (protected := protection_refusals(before, now)):
            raise ProtectionRefused(protected, before, now)
        if refused := _refusals(author, before, now):
            raise WriteAccessRefused(refused)
        if asked := open_questions(before, now, author.answered):
            raise CallersUnanswered(asked)
        recorded.version = _record_version(author, before)


def _refusals(author: Author, before: Configuration, now: Configuration) -> list[Finding]:
    """Return findings for what the author has no right to change."""
    refused = [] if author.may_change_write_access else refusals(before, now)
    return refused if author.may_administer else [*refused, *administration_refusals(before, now)]


def record_outside() -> None:
    """Record a version of changes made outside the studio since the last version, such as by SQL.

    Costs two reads when there are none.
    """
    revision = latest().revision
    head = RecordedRevision.objects.filter(pk=_ROW).first()
    if head is None or not _has_recorded(head, revision):
        # As in `recording`: the facts about each changed endpoint come from the platform.
        overview()
        with transaction.atomic():
            _record_version(Author(origin=Version.Origin.OUTSIDE))


def hold_turn() -> RecordedRevision:
    """Wait until nobody else writes a version, and let others wait until the transaction ends.

    Return the row of what was recorded last.
    """
    RecordedRevision.objects.get_or_create(pk=_ROW)
    return RecordedRevision.objects.select_for_update().get(pk=_ROW)


def _record_version(author: Author, before: Configuration | None = None) -> int | None:
    """Write a version of the changes since the last one, and return its number; None without changes.

    `before` is the configuration of the last one, where it is known.
    """
    head = hold_turn()
    now = latest()
    if _has_recorded(head, now.revision):
        return None
    # Without a token, nothing has been recorded yet: this version is what there is at the start.
    if not head.token and author.origin is Version.Origin.OUTSIDE:
        author = Author(origin=Version.Origin.START)
    version = _record_changes(author, now)
    # SQL may have changed more between the last version and `before`.
    last_recorded = before if before is not None and _has_recorded(head, before.revision) else None
    remember(now, since=last_recorded)
    head.number, head.token = now.revision.number, now.revision.token
    head.save()
    return version


def _has_recorded(head: RecordedRevision, revision: Revision) -> bool:
    """Whether the last recording was of the configuration with this revision."""
    return (head.number, head.token) == (revision.number, revision.token)


def _record_changes(author: Author, now: Configuration) -> int | None:
    """Write a version of what differs from the recorded items; return its number, None when nothing does."""
    items = items_of(now)
    # An endpoint that cannot be read at present keeps what is recorded: it has not been removed.
    recorded = _recorded_digests(leaving_out=set(unreadable_keys(now)))
    changed = [key for key, item in items.items() if recorded.get(key) != item.digest]
    removed_keys = [key for key in recorded if key not in items]
    if not (changed or removed_keys):
        return None
    version = _write_version(author, items, [*changed, *removed_keys])
    _replace_recorded_items(now, items, changed, removed_keys)
    return version


def _recorded_digests(leaving_out: set[ItemKey]) -> Mapping[ItemKey, str]:
    """Return the digest of each recorded item, without the items `leaving_out`."""
    rows = RecordedItem.objects.values_list("collection", "key", "digest")
    return {(field, key): digest for field, key, digest in rows if (field, key) not in leaving_out}


def _write_version(author: Author, items: Mapping[ItemKey, Item], keys: list[ItemKey]) -> int:
    """Write a version with the changes of the items `keys`, and its audit entry. Return its number.

    `items` are the present ones; an item that is not among them has been removed.
    """
    before = {(row.collection, row.key): row.content for row in _recorded_rows(keys)}
    changes = [
        ItemChange(
            collection=key[0],
            key=key[1],
            before=before.get(key),
            after=items[key].content if key in items else None,
        )
        for key in keys
    ]
    version = Version.objects.create(
        account=author.account,
        origin=author.origin,
        note=author.note[:LONGEST_NOTE],
        effect=_effect_of_changes(author, changes),
    )
    for change in changes:
        change.version = version
    ItemChange.objects.bulk_create(changes, batch_size=CHUNK)
    follow_renames(changes)
    if author.origin is not Version.Origin.START:
        note_access_changes(version, author.address, changes)
    version_recorded.send(Version, version=version, changes=changes)
    return version.pk


def _effect_of_changes(author: Author, changes: list[ItemChange]) -> Effect:
    """Return the most serious effect of the changes on callers. The first version changes
    nothing for them.
    """
    if author.origin is Version.Origin.START:
        return Effect.ADDITIVE
    return worst(
        line.effect for change in changes for line in lines(change.collection, change.before, change.after)
    )


def _replace_recorded_items(
    now: Configuration, items: Mapping[ItemKey, Item], changed: list[ItemKey], gone: list[ItemKey]
) -> None:
    """Record the items `changed` as they are in `items`, and forget the items `gone`."""
    facts = _facts_of_endpoints(now, {key for field, key in changed if field == "endpoints"})
    for chunk in chunks([*changed, *gone]):
        RecordedItem.objects.filter(any_of(chunk)).delete()
    RecordedItem.objects.bulk_create(
        (
            RecordedItem(
                collection=field,
                key=key,
                digest=items[field, key].digest,
                content=items[field, key].content,
                facts=facts.get(key) if field == "endpoints" else None,
            )
            for field, key in changed
        ),
        batch_size=CHUNK,
    )


def _facts_of_endpoints(now: Configuration, keys: set[str]) -> Mapping[str, Any]:
    """Return the facts of the platform about the endpoints with these keys, by key."""
    metadata = Metadata(get_platform())
    return {
        endpoint.definition.key: facts_of(endpoint, metadata)
        for endpoint in now.endpoints.values()
        if endpoint.definition.key in keys
    }


def _recorded_rows(keys: list[ItemKey]) -> Iterator[RecordedItem]:
    """Yield the recorded rows of the items `keys`, in queries of a limited length."""
    for chunk in chunks(keys):
        yield from RecordedItem.objects.filter(any_of(chunk))

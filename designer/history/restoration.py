"""The way back: what an item or the whole configuration was at a version, and making it so again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from django.db import transaction

from designer.definitions import ConfigurationDocument
from designer.documents.applied_plan import apply
from designer.documents.document_reader import read
from designer.documents.document_writer import export
from designer.documents.judgement import Judgement, judge
from designer.documents.keys import COLLECTIONS, CONTEXT, OPTION_SETS, without_items
from designer.documents.plan import Change, Plan, plan
from designer.documents.problems import DocumentError
from designer.history.items import ORDER, USER_PROPERTIES, ItemKey
from designer.history.recording import Author, record_outside, recording
from designer.history.widenings import require_confirmed
from designer.loading import latest
from designer.models import ItemChange, RecordedItem, Version
from designer.models.fields import ExactJSONEncoder
from designer.sentences import Sentence

# How often a plan is made, when somebody changes the configuration at the same time.
_ATTEMPTS = 3
_COLLECTIONS_BY_FIELD = {collection.field: collection for collection in COLLECTIONS}


def document_at(version: int) -> ConfigurationDocument:
    """Return the whole configuration as version `version` left it.

    Raises DocumentError when this release of the product cannot read what was recorded, or when rows of the
    present configuration make no definition.
    """
    # Before the changes are read: what changes in between is among them, and is taken back as well.
    now = export(latest())
    record_outside()
    contents: dict[ItemKey, Any] = {}
    later = ItemChange.objects.filter(version__gt=version).order_by("-version_id", "-id")
    # The newest change comes first, so the content before the oldest one is what stays.
    for field, key, before in later.values_list("collection", "key", "before"):
        contents[field, key] = before
    return with_contents(now, contents)


def with_contents(
    document: ConfigurationDocument, contents: Mapping[ItemKey, Any | None]
) -> ConfigurationDocument:
    """Return `document` with items that have other contents, their JSON forms; None removes an item.

    Only these are read: the others of a large configuration are what they are. All are sorted by their keys.
    Raises DocumentError.
    """
    changed = document_of({key: content for key, content in contents.items() if content is not None})
    kept = without_items(document, contents)
    lists = {
        field: tuple(sorted((*getattr(kept, field), *getattr(changed, field)), key=collection.key))
        for field, collection in _COLLECTIONS_BY_FIELD.items()
    }
    # The order of user properties is recorded as an item of its own.
    order = contents.get((ORDER, USER_PROPERTIES)) or [item.key for item in document.user_properties]
    return _in_order(document.model_copy(update=lists), order)


def recorded_state() -> dict[ItemKey, Any]:
    """Return the present JSON form of each item. Changes made outside the studio are recorded first."""
    record_outside()
    rows = RecordedItem.objects.values_list("collection", "key", "content")
    return {(field, key): content for field, key, content in rows}


def plan_to(wanted: ConfigurationDocument) -> Plan:
    """Return the changes that make the whole configuration equal to `wanted`, removals included."""
    return _planner_to(wanted)(export(latest()))


def _planner_to(wanted: ConfigurationDocument) -> Callable[[ConfigurationDocument], Plan]:
    """Return a function that plans how a present configuration becomes equal to `wanted`."""
    return lambda now: plan(now, wanted, all_groups(now))


def all_groups(now: ConfigurationDocument) -> Collection[str]:
    """Return every group of the configuration, so that a plan removes whatever the wanted document lacks."""
    return {CONTEXT, OPTION_SETS, *(module.segment for module in now.modules)}


def carry_out(
    make_plan: Callable[[ConfigurationDocument], Plan],
    wanted: ConfigurationDocument,
    author: Author,
    *,
    allow_broken: bool = False,
    with_calls: bool = False,
    allow_failing_calls: bool = False,
    expected_version: int | None = None,
    confirmed: str | None = None,
    also: Callable[[int | None], None] | None = None,
) -> Judgement:
    """Judge the plan that `make_plan` makes of the present configuration, and carry it out.

    `wanted` gives the order of user properties.

    Raises Refused when the plan cannot be made, when it would bring in what cannot be served (unless
    `allow_broken`) or, `with_calls`, when an example call fails (unless `allow_failing_calls`). Raises
    DocumentError when the newest version is not `expected_version`, and ChangeRefused. Nothing has been
    written then.

    Raises Unconfirmed when the plan lets in more callers and `confirmed` is not the digest of the question
    about that, which may also be asked anew because somebody else has changed something. None asks nobody.

    `also` is called in the same transaction with the number of the version; its exceptions roll everything
    back.
    """
    # Checked before the transaction, too: inside, a refusal would roll back the version that it names, if the
    # check itself has recorded that version.
    require_version(expected_version)
    for _ in range(_ATTEMPTS):
        # Before the transaction: while the platform is asked, nobody waits for the database.
        judged = judge(make_plan, with_calls=with_calls)
        judged.require_acceptable(allow_broken=allow_broken, allow_failing_calls=allow_failing_calls)
        require_confirmed(judged.plan, confirmed)
        with transaction.atomic() if also else nullcontext():
            with recording(author) as recorded:
                require_version(expected_version)
                if latest().revision != judged.revision:
                    # Somebody has changed the configuration since it was judged: judge anew.
                    continue
                apply(judged.plan, wanted)
            if also:
                also(recorded.version)
        return replace(judged, version=recorded.version)
    raise others_change()


def others_change() -> DocumentError:
    """Return the error of a change that was tried several times, and each time somebody else was faster."""
    return DocumentError(
        [Sentence("Others change the configuration at the same time. Nothing was changed; try again.")]
    )


def require_version(expected: int | None) -> None:
    """Check that the newest version is `expected`; None expects nothing. Raises DocumentError."""
    if expected is None:
        return
    newest = newest_version()
    if newest != expected:
        raise DocumentError(
            [
                Sentence(
                    "The newest version is %(newest)s, not %(expected)s: the configuration has changed "
                    "since. Look at what has changed, then expect version %(newest)s.",
                    newest=newest,
                    expected=expected,
                )
            ]
        )


def newest_version() -> int:
    """Return the number of the newest version; 0 where there is none.

    Changes made outside the studio are recorded first.
    """
    record_outside()
    return Version.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def restore(wanted: ConfigurationDocument, author: Author, confirmed: str | None = None) -> Judgement:
    """Make the whole configuration equal to `wanted`.

    Raises DocumentError, and Unconfirmed and ChangeRefused as `carry_out` does; nothing has changed then.
    """
    return carry_out(_planner_to(wanted), wanted, author, confirmed=confirmed)


def preview_restore(wanted: ConfigurationDocument) -> Judgement:
    """Judge what `restore` would do, and change nothing. Raises DocumentError, and Refused where it would."""
    judged = judge(_planner_to(wanted))
    judged.require_acceptable()
    return judged


def restore_item(
    collection: str, key: str, content: Any | None, author: Author, confirmed: str | None = None
) -> Judgement:
    """Make one item equal to `content`, its JSON form; None removes the item.

    Raises DocumentError, also when this release of the product cannot read `content`, and Unconfirmed and
    ChangeRefused as `carry_out` does; nothing has changed then.
    """
    item_collection = _COLLECTIONS_BY_FIELD[collection]
    item = None if content is None else item_collection.items(document_of({(collection, key): content}))[key]

    def make_plan(now: ConfigurationDocument) -> Plan:
        """Return the plan that changes this item alone; an empty one when it is as wanted."""
        before = item_collection.items(now).get(key)
        return Plan(() if before == item else (Change(item_collection, key, before, item),))

    # The order of user properties is the present one's.
    return carry_out(make_plan, export(latest()), author, confirmed=confirmed)


def document_of(state: Mapping[ItemKey, Any]) -> ConfigurationDocument:
    """Return the document that consists of the items in `state`.

    Raises DocumentError when this release of the product cannot read them.
    """
    data: dict[str, Any] = {"format": 2}
    for field in _COLLECTIONS_BY_FIELD:
        data[field] = [content for (stored, _), content in sorted(state.items()) if stored == field]
    document = read(json.dumps(data, cls=ExactJSONEncoder).encode())
    return _in_order(document, state.get((ORDER, USER_PROPERTIES), []))


def _in_order(document: ConfigurationDocument, order: Sequence[str]) -> ConfigurationDocument:
    """Return `document` with its user properties in the order of their keys in `order`, others after them."""
    places = {key: position for position, key in enumerate(order)}
    properties = sorted(document.user_properties, key=lambda item: places.get(item.key, len(places)))
    return document.model_copy(update={USER_PROPERTIES: tuple(properties)})

"""The way back: what an item or the whole configuration was at a version, and making it so again."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from django.db import transaction

from designer.definitions import ConfigurationDocument
from designer.documents.applying import apply
from designer.documents.judging import Judgement, Refused, judge
from designer.documents.keys import COLLECTIONS, CONTEXT, OPTION_SETS
from designer.documents.plan import Change, Plan, plan
from designer.documents.problems import DocumentError
from designer.documents.reading import read
from designer.documents.writing import export
from designer.history.items import ORDER, USER_PROPERTIES, ItemKey
from designer.history.recording import Author, record_outside, recording
from designer.loading import latest
from designer.models import ItemChange, RecordedItem, Version
from designer.models.fields import ExactJSONEncoder
from designer.names import USER_TYPE, property_key
from designer.sentences import Sentence

# How often a plan is made anew because somebody has changed what it was made of.
_ATTEMPTS = 3
_FIELDS = {collection.field: collection for collection in COLLECTIONS}


def document_at(version: int) -> ConfigurationDocument:
    """The whole configuration as version `version` left it.

    Raises DocumentError where what was recorded means nothing to this release of the product.
    """
    state = recorded_state()
    later = ItemChange.objects.filter(version__gt=version).order_by("-version_id", "-id")
    for field, key, before in later.values_list("collection", "key", "before"):
        if before is None:
            state.pop((field, key), None)
        else:
            state[field, key] = before
    return document_of(state)


def recorded_state() -> dict[ItemKey, Any]:
    """The JSON form of each item as it is now."""
    record_outside()
    rows = RecordedItem.objects.values_list("collection", "key", "content")
    return {(field, key): content for field, key, content in rows}


def plan_to(wanted: ConfigurationDocument) -> Plan:
    """What has to change for the whole configuration to be as `wanted`, what it lacks removed."""
    now = export(latest())
    return plan(now, wanted, all_groups(now))


def all_groups(now: ConfigurationDocument) -> Collection[str]:
    """Every group in which a plan may remove what the wanted document lacks."""
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
    also: Callable[[int | None], None] | None = None,
) -> Judgement:
    """Judge the plan that `make_plan` makes of the present configuration, and make it so.

    Raises Refused where it cannot be made or, without `allow_broken`, would bring in what cannot be served
    or,
    `with_calls` and without `allow_failing_calls`, fails an example call, DocumentError where the newest
    version is not `expected_version`, and ChangeRefused; nothing has been written then.

    `also` is done in the same transaction, with the number of the version; what it raises takes all back.
    """
    # Here, too: within the transaction, the number of a version that is made by it would be taken back.
    require_version(expected_version)
    for _ in range(_ATTEMPTS):
        # Before the transaction: while the platform is asked, nobody waits for the database.
        judged = judge(make_plan, with_calls=with_calls)
        if not judged.is_acceptable(allow_broken=allow_broken, allow_failing_calls=allow_failing_calls):
            raise Refused(judged)
        with transaction.atomic() if also else nullcontext():
            with recording(author) as recorded:
                require_version(expected_version)
                if latest().revision != judged.revision:
                    continue
                apply(judged.plan, wanted)
            if also:
                also(recorded.version)
        return replace(judged, version=recorded.version)
    raise DocumentError(
        [Sentence("Others change the configuration at the same time. Nothing was changed; try again.")]
    )


def require_version(expected: int | None) -> None:
    """Raises DocumentError where the newest version is not the expected one. None expects nothing."""
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
    """The number of the newest version, what has changed past the studio included; 0 where there is none."""
    record_outside()
    return Version.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def restore(wanted: ConfigurationDocument, author: Author) -> Judgement:
    """Make the whole configuration as `wanted`. Raises DocumentError; nothing has changed then."""
    return carry_out(lambda now: plan(now, wanted, all_groups(now)), wanted, author)


def restore_item(collection: str, key: str, content: Any | None, author: Author) -> Judgement:
    """Make one item as `content`, a JSON form; None: for it not to be there.

    Raises DocumentError, also where `content` means nothing to this release of the product; nothing has
    changed then.
    """
    known = _FIELDS[collection]
    item = None if content is None else known.items(document_of({(collection, key): content}))[key]

    def make_plan(now: ConfigurationDocument) -> Plan:
        before = known.items(now).get(key)
        return Plan(() if before == item else (Change(known, key, before, item),))

    # The order of user properties is the present one's.
    return carry_out(make_plan, export(latest()), author)


def document_of(state: Mapping[ItemKey, Any]) -> ConfigurationDocument:
    """The document that `state` is. Raises DocumentError where it means nothing to this release."""
    data: dict[str, Any] = {"format": 2}
    for field in _FIELDS:
        data[field] = [content for (known, _), content in sorted(state.items()) if known == field]
    order = state.get((ORDER, USER_PROPERTIES), [])
    places = {name: at for at, name in enumerate(order)}
    data[USER_PROPERTIES].sort(key=lambda known: places.get(_key_of(known), len(places)))
    return read(json.dumps(data, cls=ExactJSONEncoder).encode())


def _key_of(known: dict[str, Any]) -> str:
    """Of a user property as it was recorded."""
    return property_key(known.get("caller_type", USER_TYPE), known.get("name", ""))

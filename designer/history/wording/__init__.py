"""Changes of definitions in sentences, each with its effect.

All of it works on JSON forms, so that a version of long ago can be read whatever definitions have become.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from django.utils.translation import gettext as _

from designer.definition import json_numbers
from designer.history.effects import Effect, Line
from designer.history.wording import configuration_wording as configuration
from designer.history.wording import endpoint_wording as endpoints
from designer.history.wording import issuer_wording
from designer.history.wording.field_wording import JsonObject, Words

_Describe: TypeAlias = Callable[[JsonObject, JsonObject], Iterator[Line]]

# By the list of the document. Items of other lists, which another release recorded, get bare differences.
_DESCRIBE: dict[str, _Describe] = {
    "roles": configuration.role,
    "caller_types": configuration.caller_type,
    "user_properties": configuration.user_property,
    "issuers": issuer_wording.issuer,
    "modules": configuration.module,
    "entities": configuration.entity,
    "endpoints": endpoints.endpoint,
}
# The effect of a removal, by list. Removals from other lists break callers. What callers lose by the removal
# of an item of these lists is told at the endpoints that name it.
_REMOVED: dict[str, Effect] = {
    "roles": Effect.BEHAVIOUR,
    "caller_types": Effect.BEHAVIOUR,
    "modules": Effect.BEHAVIOUR,
    "entities": Effect.BEHAVIOUR,
}


def lines(collection: str, before: Any, after: Any) -> list[Line]:
    """Return the changes of one item of the list `collection` in sentences, with their effects.

    `before` and `after` are JSON forms; None where the item does not exist.
    """
    if before is None:
        return [Line(_("added"), Effect.ADDITIVE)]
    if after is None:
        return [Line(_("removed"), _removal(collection, before))]
    if isinstance(before, list):
        return [Line(_("in another order"), Effect.ADDITIVE)]
    describe = _DESCRIBE.get(collection, _anything)
    # Recorded values have exact numbers as Decimals; present ones do not.
    described = describe(json_numbers(before), json_numbers(after))
    # Nobody could call a draft.
    is_draft = collection == "endpoints" and not before.get("enabled", True)
    return [Line(line.text, Effect.ADDITIVE) if is_draft else line for line in described]


def _removal(collection: str, before: JsonObject) -> Effect:
    """Return the effect of a removal. That of a draft is harmless, because nobody could call it."""
    if collection == "endpoints" and not before.get("enabled", True):
        return Effect.ADDITIVE
    return _REMOVED.get(collection, Effect.BREAKING)


def _anything(before: JsonObject, after: JsonObject) -> Iterator[Line]:
    """Yield the bare differences of an item of a list that this release does not know."""
    return Words().compare(before, after)

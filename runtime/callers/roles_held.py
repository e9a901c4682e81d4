"""API accounts and API keys among the places where a role or a caller type is used."""

from __future__ import annotations

from collections.abc import Iterator

from designer.history.items import ItemKey
from designer.sentences import Sentence
from designer.uses.where_used import Use
from runtime.callers.api_accounts import ApiAccount
from runtime.callers.keys.api_key import ApiKey

# There may be thousands: a page names the first, and says how many more.
_MOST = 1_000


def held_by_callers(item: ItemKey) -> Iterator[Use]:
    """Yield the places where API accounts and keys use `item`, a role or a caller type. Yield none for any
    other item.
    """
    collection, name = item
    fields = {"roles": "roles__name", "caller_types": "caller_type__name"}
    if collection not in fields:
        return
    place = Sentence("the roles") if collection == "roles" else Sentence("the caller type")
    filters = {fields[collection]: name}
    accounts = ApiAccount.objects.filter(**filters).values_list("user__username", flat=True)
    for account in accounts[:_MOST]:
        yield Use(("runtime.apiaccount", account), place, "runtime.view_apiaccount")
    for key in ApiKey.objects.filter(**filters).values_list("name", flat=True)[:_MOST]:
        yield Use(("runtime.apikey", key), place, "runtime.view_apikey")

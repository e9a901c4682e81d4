"""*Where used*, on the page of a row and before it is deleted: links to all that name it, with the places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from designer.configuration import Configuration
from designer.history.item_keys import item_key
from designer.history.items import ItemKey
from designer.history.readable_versions import describe
from designer.models import CallerType, Issuer, UserProperty
from designer.sentences import said
from designer.studio.hidden_lists import hidden_from
from designer.studio.navigation.request_overview import overview_for
from designer.uses.where_used import Use, uses_of

_MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class UsedIn:
    """An item that names the row of the page, such as an endpoint that names a role.

    `collection` is the item's list in the configuration, `what` its name for people. `link` is the address of
    its page; empty: it has none. `places` say where in the item the row is named.
    """

    collection: str
    what: str
    link: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WhereUsed:
    """The items that name a row. `shown` are the first of the `count` items that the account may see.

    `hidden` is the number of items that it may not see.
    """

    shown: tuple[UsedIn, ...]
    count: int
    hidden: int

    @property
    def others(self) -> list[UsedIn]:
        """Return the items other than endpoints, which a refused deletion names already."""
        return [use for use in self.shown if use.collection != "endpoints"]

    @property
    def more(self) -> int:
        """Return the number of visible items that are not shown."""
        return self.count - len(self.shown)


def where_used(request: HttpRequest, row: Model) -> WhereUsed | None:
    """Return the items that name `row`; None if the row is not an item of the configuration."""
    configuration = overview_for(request).configuration
    item = item_key(row, configuration)
    return None if item is None else used_places(request, uses_of(item, configuration), configuration)


def used_places(request: HttpRequest, uses: Iterable[Use], configuration: Configuration) -> WhereUsed:
    """Return the uses that the account may see, grouped by the item that names the row."""
    lists = hidden_from(request)
    places: dict[ItemKey, list[str]] = {}
    hidden: set[ItemKey] = set()
    for use in uses:
        if use.used_by[0] in lists or (use.permission and not request.user.has_perm(use.permission)):
            hidden.add(use.used_by)
        else:
            places.setdefault(use.used_by, []).append(said(use.place))
    shown = list(places.items())[:_MOST_SHOWN]
    pages = _Pages(configuration)
    return WhereUsed(
        tuple(
            UsedIn(item[0], _item_in_words(item), pages.of(item), tuple(dict.fromkeys(texts)))
            for item, texts in shown
        ),
        len(places),
        len(hidden),
    )


def _item_in_words(item: ItemKey) -> str:
    """Return the name of an item for people."""
    collection, key = item
    if "." in collection:
        # Not a list of the configuration but a model, such as `runtime.apiaccount`, whose rows name items.
        return f"{apps.get_model(collection)._meta.verbose_name} {key}"
    return describe(collection, key)


class _Pages:
    """The addresses of the pages of items. The row ids of each list are read once, and only when needed."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._ids: dict[str, dict[str, int]] = {}

    def of(self, item: ItemKey) -> str:
        """Return the address of an item's page; empty if the item has none, or is not stored."""
        collection, key = item
        model = _MODELS.get(collection)
        if model is None:
            return _list_page(collection, key)
        if collection not in self._ids:
            self._ids[collection] = self._read(collection)
        id = self._ids[collection].get(key)
        return reverse(f"admin:designer_{model}_change", args=[id]) if id is not None else ""

    def _read(self, collection: str) -> dict[str, int]:
        """Return the row ids of a list of the configuration (one of `_MODELS`), by the keys of its items."""
        configuration = self._configuration
        match collection:
            case "endpoints":
                return {endpoint.definition.key: id for id, endpoint in configuration.endpoints.items()}
            case "entities":
                return (
                    {entity.key: id for id, entity in configuration.ids.entities.items()}
                    if configuration.ids
                    else {}
                )
            case "user_properties":
                rows = UserProperty.objects.select_related("caller_type")
                return {row.key: row.pk for row in rows}
            case "issuers":
                return dict(Issuer.objects.values_list("name", "pk"))
        return dict(CallerType.objects.values_list("name", "pk"))


# By the list of the configuration: the model, in lower case, whose rows are its items and have pages.
_MODELS = {
    "endpoints": "endpoint",
    "entities": "exposedentity",
    "user_properties": "userproperty",
    "issuers": "issuer",
    "caller_types": "callertype",
}


def _list_page(model: str, key: str) -> str:
    """Return the address of a search for `key` in the list of a model; empty if the model has no list.

    `model` is such as `runtime.apiaccount`.
    """
    try:
        page = reverse(f"admin:{model.replace('.', '_')}_changelist")
    except NoReverseMatch:
        return ""
    return f"{page}?{urlencode({'q': key})}"

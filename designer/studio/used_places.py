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
from designer.studio.navigation.request_overview import seen_by
from designer.uses.where_used import Use, uses_of

_SHOWN = 50


@dataclass(frozen=True, slots=True)
class UsedIn:
    """An item that names the row: its name, the address of its page if it has one, and the places in it."""

    collection: str
    what: str
    link: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WhereUsed:
    """The uses of a row. `shown` are the first of `count`; `hidden` is the number the account may not see."""

    shown: tuple[UsedIn, ...]
    count: int
    hidden: int

    @property
    def others(self) -> list[UsedIn]:
        """Return the items other than endpoints, which a refused deletion names already."""
        return [use for use in self.shown if use.collection != "endpoints"]

    @property
    def more(self) -> int:
        return self.count - len(self.shown)


def where_used(request: HttpRequest, row: Model) -> WhereUsed | None:
    """Return the uses of a row; None for a row that is no item of the configuration."""
    configuration = seen_by(request).configuration
    item = item_key(row, configuration)
    return None if item is None else used_places(request, uses_of(item, configuration), configuration)


def used_places(request: HttpRequest, uses: Iterable[Use], configuration: Configuration) -> WhereUsed:
    """Return the uses that the account may see, grouped by the item that names the row."""
    lists = hidden_from(request)
    places: dict[ItemKey, list[str]] = {}
    hidden: set[ItemKey] = set()
    for use in uses:
        if use.user[0] in lists or (use.permission and not request.user.has_perm(use.permission)):
            hidden.add(use.user)
        else:
            places.setdefault(use.user, []).append(said(use.place))
    shown = list(places.items())[:_SHOWN]
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
    collection, key = item
    if "." in collection:
        # A model that is no part of the configuration.
        return f"{apps.get_model(collection)._meta.verbose_name} {key}"
    return describe(collection, key)


class _Pages:
    """The addresses of items by their keys. Each list is read once, and only if it is needed."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._ids: dict[str, dict[str, int]] = {}

    def of(self, item: ItemKey) -> str:
        collection, key = item
        model = _MODELS.get(collection)
        if model is None:
            return _list_page(collection, key)
        if collection not in self._ids:
            self._ids[collection] = self._read(collection)
        id = self._ids[collection].get(key)
        return reverse(f"admin:designer_{model}_change", args=[id]) if id is not None else ""

    def _read(self, collection: str) -> dict[str, int]:
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


_MODELS = {
    "endpoints": "endpoint",
    "entities": "exposedentity",
    "user_properties": "userproperty",
    "issuers": "issuer",
    "caller_types": "callertype",
}


def _list_page(model: str, key: str) -> str:
    """Return the address of a search for the row in a list outside the configuration; empty if none."""
    try:
        page = reverse(f"admin:{model.replace('.', '_')}_changelist")
    except NoReverseMatch:
        return ""
    return f"{page}?{urlencode({'q': key})}"

"""`$orderby`: properties and paths through lookups, each with `asc` or `desc`."""

from __future__ import annotations

from crmbox.webapi.errors import bad_url
from crmbox.webapi.odata.properties import Paths
from crmbox.webapi.odata.splitting import split
from crmclient.query.ast import Order


def read_orders(text: str | None, paths: Paths) -> tuple[Order, ...]:
    """Raises WebApiError."""
    orders = []
    for name, descending in directions(text):
        place = paths.place(name.split("/"))
        orders.append(Order(place.attribute.logical_name, None, place.link, descending))
    return tuple(orders)


def directions(text: str | None) -> list[tuple[str, bool]]:
    """Each name with whether it descends."""
    if not text or not text.strip():
        return []
    found = []
    for item in split(text, ","):
        words = item.split()
        direction = words[1].lower() if len(words) == 2 else "asc"
        if not 1 <= len(words) <= 2 or direction not in ("asc", "desc"):
            raise bad_url(f"Syntax error in $orderby: '{item}'.")
        found.append((words[0], direction == "desc"))
    return found

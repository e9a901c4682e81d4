"""`$expand` as written: `primarycontactid($select=fullname),contact_customer_accounts($top=5)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crmbox.webapi.errors import WebApiError, bad_url
from crmbox.webapi.model import EntityType
from crmbox.webapi.odata.navigation import Collection, Lookup, Navigation
from crmbox.webapi.odata.options import Options, read_nested
from crmbox.webapi.odata.properties import no_property
from crmbox.webapi.odata.splitting import call, split

MOST: Final = 15
"""As many as Dataverse takes in one query."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """With `reference` only the address of a lookup's record is wanted (`/$ref`)."""

    navigation: Navigation
    options: Options
    text: str
    reference: bool = False


def read_expansions(type_: EntityType, text: str | None) -> tuple[Expansion, ...]:
    """Raises WebApiError for what is no navigation property, and for more than are taken."""
    if text is None or not text.strip():
        return ()
    check_nesting(text)
    found = tuple(_expansion(type_, part) for part in split(text, ","))
    if len(found) > MOST:
        raise _too_many()
    return found


def check_nesting(text: str) -> None:
    """Raises WebApiError for expansions nested more deeply than anything is expanded."""
    if text.count("$expand") >= MOST:
        raise _too_many()


def _expansion(type_: EntityType, text: str) -> Expansion:
    name, inside = call(text)
    path, _, reference = name.partition("/")
    navigation = type_.lookups.get(path) or type_.collections.get(path)
    if not isinstance(navigation, Lookup | Collection):
        raise no_property(path, type_)
    if reference and (reference != "$ref" or isinstance(navigation, Collection)):
        raise bad_url(f"'{name}' cannot be expanded; only /$ref of a lookup may follow a property.")
    nested = "" if inside is None else inside
    return Expansion(navigation, read_nested(nested), nested, bool(reference))


def _too_many() -> WebApiError:
    return bad_url(f"At most {MOST} properties can be expanded.")

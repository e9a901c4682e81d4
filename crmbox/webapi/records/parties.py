"""The parties of an activity in its body: `email_activity_parties`, each with its part."""

from __future__ import annotations

from typing import Any

from crmbox.webapi.errors import bad_payload
from crmbox.webapi.model import EntityType
from crmbox.webapi.records.references import read_reference
from crmbox.webapi.request import Request
from crmclient.parties import ADDRESS, PART, PARTY, RECORD, parts_of
from crmclient.values import Party, Reference

_BIND = "@odata.bind"


def read_parties(
    request: Request, activity: EntityType, name: str, raw_parties: Any
) -> dict[str, tuple[Party, ...]]:
    """Return the parties in a body by party list. Raises WebApiError."""
    if not isinstance(raw_parties, list) or not all(isinstance(item, dict) for item in raw_parties):
        raise bad_payload(f"'{name}' takes an array of parties.")
    type_ = request.model.entity_type(PARTY)
    names_by_number = {
        number: list_name for list_name, number in parts_of(activity.stored.party_lists.values()).items()
    }
    parties_by_list: dict[str, tuple[Party, ...]] = {}
    for item in raw_parties:
        part = item.get(PART)
        if part not in names_by_number:
            parts = ", ".join(f"{number} ({list_name})" for number, list_name in names_by_number.items())
            raise bad_payload(f"A party of '{activity.name}' needs a {PART} of {parts}, not {part!r}.")
        party = _party(request, type_, item)
        parties_by_list[names_by_number[part]] = (*parties_by_list.get(names_by_number[part], ()), party)
    return parties_by_list


def _party(request: Request, type_: EntityType, item: dict[str, Any]) -> Party:
    """Read a party: its record, its address, or both. `type_` is that of parties. Raises WebApiError."""
    record: Reference | None = None
    address: str | None = None
    for name, value in item.items():
        if name.endswith(_BIND):
            lookup = type_.lookups.get(name.removesuffix(_BIND))
            if lookup is None or lookup.attribute != RECORD:
                raise bad_payload(f"A party has no lookup '{name.removesuffix(_BIND)}' to be written.")
            record = None if value is None else read_reference(request, value)
        elif name == ADDRESS and (value is None or isinstance(value, str)):
            address = value or None
        elif name != PART and not name.startswith("@"):
            raise bad_payload(f"'{name}' of a party cannot be written.")
    return Party(record, address)

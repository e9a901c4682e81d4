"""PartyList: who takes part in an activity, such as the recipients of an e-mail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from django.utils.translation import gettext_noop as _

from crmclient import Party
from crmclient.metadata import AttributeType
from crmclient.parties import LONGEST_ADDRESS
from designer.sentences import Sentence
from designer.types.base import InputType, InvalidInput, Limits, Reader, item_bounds
from designer.types.references import GUID_SCHEMA, SAMPLE_ID, reader_of_records

MOST_PARTIES: Final = 1000
_RECORD = frozenset({"type", "id"})
_ADDRESS = frozenset({"address"})


@dataclass(frozen=True, slots=True)
class PartyListType(InputType):
    """An array of records, each `{"type", "id"}`; or `{"address"}` where an address alone may take part."""

    name: str = "PartyList"
    label: str = _("List of parties")
    attribute_types: frozenset[AttributeType] = frozenset({AttributeType.PARTYLIST})
    constraints: frozenset[str] = frozenset({"min_length", "max_length"})
    in_query: ClassVar[bool] = False
    is_several: ClassVar[bool] = True
    most_items: ClassVar[int | None] = MOST_PARTIES
    needs_targets: ClassVar[bool] = True
    sample: ClassVar[Any] = [{"type": "1", "id": SAMPLE_ID, "name": "1", "address": "1"}]

    @property
    def widget(self) -> str:
        return "parties"

    def compile(self, limits: Limits) -> Reader:
        """Return a reader of an array of parties. It raises InvalidInput."""
        fewest, most = item_bounds(limits, MOST_PARTIES)
        read_party = _party_reader(limits)

        def read(raw: Any) -> tuple[Party, ...]:
            if type(raw) is not list:
                raise InvalidInput("wrong_type", Sentence("Must be an array of parties."))
            if not fewest <= len(raw) <= most:
                raise InvalidInput(
                    "wrong_length",
                    Sentence("Must hold %(fewest)s to %(most)s parties.", fewest=fewest, most=most),
                )
            parties = tuple(read_party(item) for item in raw)
            if len(set(parties)) < len(parties):
                raise InvalidInput("repeated", Sentence("A party may stand in the list once."))
            return parties

        return read

    def schema(self, limits: Limits) -> dict[str, Any]:
        fewest, most = item_bounds(limits, MOST_PARTIES)
        type_ = {"type": "string", "enum": list(limits.targets)}
        address = {"type": "string", "minLength": 1, "maxLength": LONGEST_ADDRESS}
        record = _object({"type": type_, "id": GUID_SCHEMA}, ("type", "id"))
        items = record
        if limits.addresses:
            record_at_address = _object({**record["properties"], "address": address}, ("type", "id"))
            items = {"anyOf": [record_at_address, _object({"address": address}, ("address",))]}
        return {"type": "array", "minItems": fewest, "maxItems": most, "items": items}


def _object(properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    """Return the JSON Schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _party_reader(limits: Limits) -> Callable[[Any], Party]:
    """Return a reader of one party: a record, a record that is reached at an address, or an address alone.

    Only some attributes take addresses. A record needs its type even where only one entity is possible, so
    that the lists of all activities have one form.
    """
    read_record = reader_of_records(limits.targets)
    allowed = (_RECORD, _RECORD | _ADDRESS, _ADDRESS) if limits.addresses else (_RECORD,)
    words = Sentence('Each party must be an object {"type", "id"}.')
    if limits.addresses:
        words = Sentence('Each party must be an object {"type", "id"} or {"address"}, or have all three.')

    def read(raw: Any) -> Party:
        if type(raw) is not dict or raw.keys() not in allowed:
            raise InvalidInput("wrong_type", words)
        address = raw.get("address")
        if "address" in raw and (type(address) is not str or not 0 < len(address) <= LONGEST_ADDRESS):
            raise InvalidInput(
                "wrong_address",
                Sentence("An address must be a text of 1 to %(most)s characters.", most=LONGEST_ADDRESS),
            )
        reference = read_record({name: raw[name] for name in _RECORD}) if "id" in raw else None
        return Party(reference, address)

    return read


PARTY_LIST = PartyListType()

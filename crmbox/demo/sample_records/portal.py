"""Cases that customers of the portal have reported. Documents name these people and companies."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

from crmbox.demo.people import (
    CLARA_CUSTOMER,
    CONNY_COLLEAGUE,
    COSMO_CONTACT,
    FIRST_ACCOUNT,
    FIRST_LINE,
    SECOND_ACCOUNT,
    stable_id,
)
from crmbox.demo.sample_records.script import Script
from crmbox.demo.sample_records.service import CASES
from crmclient.values import Guid, Reference, Value

_CLARA: Final = Reference("contact", CLARA_CUSTOMER)
_CONNY: Final = Reference("contact", CONNY_COLLEAGUE)
_COSMO: Final = Reference("contact", COSMO_CONTACT)
_FIRST: Final = Reference("account", FIRST_ACCOUNT)
_SECOND: Final = Reference("account", SECOND_ACCOUNT)

_IN_PROGRESS, _WAITING, _SOLVED, _CANCELLED = 1, 3, 5, 6
_HIGH, _NORMAL, _LOW = 1, 2, 3
_WEB: Final = 3

# Key, customer, company, days ago, priority, status, title, description.
_CASES: Final = (
    ("clara-1", _CLARA, _FIRST, 2, _HIGH, _IN_PROGRESS, "Machine MX-4471 stops during the night shift",
     "Since Monday it stops at about 2:30 and shows E-17. The log of last night is attached."),
    ("clara-2", _CLARA, _FIRST, 9, _NORMAL, _WAITING, "Invoice 2093 has the wrong address",
     "We have moved. Please send it again to the new address."),
    ("clara-3", _CLARA, _FIRST, 16, _NORMAL, _IN_PROGRESS, "Question about the service contract",
     "Does it include spare parts in the second year?"),
    ("clara-4", _CLARA, _FIRST, 31, _LOW, _SOLVED, "Manual in Spanish", "Is there one for the MX series?"),
    ("clara-5", _CLARA, _FIRST, 44, _NORMAL, _SOLVED, "Delivery 7781 came without screws", None),
    ("clara-6", _CLARA, _FIRST, 58, _HIGH, _SOLVED, "Cannot sign in since the update", None),
    ("clara-7", _CLARA, _FIRST, 77, _LOW, _CANCELLED, "Please change the address on our account", None),
    ("clara-8", _CLARA, _FIRST, 102, _NORMAL, _SOLVED, "Broken part in order 5120", None),
    ("clara-9", _CLARA, _FIRST, 131, _NORMAL, _SOLVED, "Training for two new colleagues", None),
    ("clara-10", _CLARA, _FIRST, 166, _LOW, _SOLVED, "Noise from the cooling fan", None),
    ("clara-11", _CLARA, _FIRST, 205, _NORMAL, _SOLVED, "Invoice 1840 came twice", None),
    ("clara-12", _CLARA, _FIRST, 240, _HIGH, _SOLVED, "Machine MX-4471 does not start", None),
    ("conny-1", _CONNY, _FIRST, 5, _NORMAL, _IN_PROGRESS, "Return label for a broken sensor",
     "The sensor of MX-4402 shows no value any more."),
    ("conny-2", _CONNY, _FIRST, 66, _LOW, _SOLVED, "Toner for the label printer", None),
    ("company-1", _FIRST, _FIRST, 12, _HIGH, _IN_PROGRESS, "Yearly inspection of all machines",
     "Agreed by telephone: two days in spring."),
    ("cosmo-1", _COSMO, _SECOND, 3, _HIGH, _IN_PROGRESS, "Pump P-220 leaks",
     "About a litre an hour. The offer that we got is attached."),
    ("cosmo-2", _COSMO, _SECOND, 27, _NORMAL, _WAITING, "Price list for spare parts", None),
    ("cosmo-3", _COSMO, _SECOND, 90, _LOW, _SOLVED, "Change of the delivery address", None),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of the note with the id `note`."""

    note: Guid
    name: str
    content_type: str
    content: bytes


CLARAS_CASE: Final = stable_id("incident", "portal/clara-1")
COSMOS_CASE: Final = stable_id("incident", "portal/cosmo-1")
CONNYS_CASE: Final = stable_id("incident", "portal/conny-1")

_FILES: Final = (
    ("clara-1", "night-shift.txt", b"02:29:58 pressure 6.1 bar\n02:30:04 E-17 door open\n02:30:04 stop\n"),
    ("cosmo-1", "offer-p220.txt", b"Offer 9921: seal kit P-220, 2 pieces\n"),
)
ATTACHMENTS: Final = tuple(
    Attachment(stable_id("annotation", f"portal/{case}"), name, "text/plain", content)
    for case, name, content in _FILES
)


def write_cases(script: Script) -> None:
    """Write the cases of the portal's customers, and a note for each file that is attached to one.

    The files themselves are uploaded when all records are written.
    """
    for number, (key, customer, company, days, priority, status, title, text) in enumerate(_CASES, start=1):
        # Between 8:01 and 8:18 (UTC) of that day: negative hours and minutes count forward.
        created = script.today - dt.timedelta(days=days, hours=-8, minutes=-number)
        values: dict[str, Value] = {
            "title": title,
            # Fixed, but looks like the random ending in the numbers of other cases.
            "ticketnumber": f"CAS-{CASES + number:05d}-{number * 5_438_597 % 2**24:06X}",
            "customerid": customer,
            "primarycontactid": customer if customer.entity == "contact" else None,
            "new_companyid": company,
            "prioritycode": priority,
            "caseorigincode": _WEB,
            "description": text,
            "ownerid": Reference("team", FIRST_LINE),
            "statuscode": status,
        }
        script.create("incident", f"portal/{key}", values, created)
    for case, name, _ in _FILES:
        case_reference = Reference("incident", stable_id("incident", f"portal/{case}"))
        script.create(
            "annotation",
            f"portal/{case}",
            {"subject": name, "objectid": case_reference, "ownerid": Reference("team", FIRST_LINE)},
            script.today - dt.timedelta(days=1),
        )

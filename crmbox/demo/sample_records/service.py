"""Cases of customers, and the notes that people leave on whatever they work on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

from crmbox.demo.sample_records.customers import Customer
from crmbox.demo.sample_records.organization import AGENTS, SELLERS
from crmbox.demo.sample_records.script import PRIORITIES, Script, user
from crmclient.values import Reference, Value

CASES: Final = 300
NOTES: Final = 200

_TITLES: Final = (
    "Invoice {} is wrong",
    "Delivery {} has not come",
    "Cannot sign in since version {}",
    "Question about contract {}",
    "Machine {} stops during the night shift",
    "Broken part in order {}",
    "Please change the address on account {}",
)
_STATUSES: Final = (1, 1, 1, 2, 3, 4, 5, 5, 5, 5, 1000, 6, 2000)
_SOLVED: Final = frozenset({5, 1000})
_SUBJECTS: Final = ("Call", "Visit", "Meeting at the fair", "Price talk", "Reminder", "Background")
_TEXTS: Final = (
    "Wants to hear from us next week.",
    "Asked for an offer in writing.",
    "Is happy with the last delivery.\nWill recommend us.",
    "Budget is decided in the autumn.",
    "Prefers e-mail to phone calls.",
)


def write_cases(
    script: Script, accounts: Sequence[Customer], contacts: Sequence[Customer]
) -> list[Reference]:
    return [_write_case(script, number, accounts, contacts) for number in range(1, CASES + 1)]


def write_notes(script: Script, subjects: Sequence[Reference]) -> None:
    """Write notes on records of `subjects`, which are chosen at random."""
    for number in range(1, NOTES + 1):
        script.create(
            "annotation",
            str(number),
            {
                "subject": script.chance.choice(_SUBJECTS),
                "notetext": script.chance.choice(_TEXTS),
                "objectid": script.chance.choice(subjects),
                "ownerid": user(script.chance.choice(SELLERS + AGENTS)),
            },
        )


def _owner(number: int, agent: str) -> Reference:
    """Return the owner of a case: every twelfth has a seller, so that other business units have
    cases, too.
    """
    return user(SELLERS[number // 12 % len(SELLERS)] if number % 12 == 0 else agent)


def _write_case(
    script: Script, number: int, accounts: Sequence[Customer], contacts: Sequence[Customer]
) -> Reference:
    """Write the case with this number, of a random customer. Its values are the same at each loading."""
    chance = script.chance
    customer = chance.choice(accounts if script.maybe(0.6) else contacts)
    created = script.past(customer.created)
    status = chance.choice(_STATUSES)
    escalated = script.maybe(0.1)
    values: dict[str, Value] = {
        "title": chance.choice(_TITLES).format(chance.randint(100, 9999)),
        "ticketnumber": f"CAS-{number:05d}-{chance.getrandbits(24):06X}",
        "customerid": customer.reference,
        "primarycontactid": customer.reference if customer.reference.entity == "contact" else None,
        "new_companyid": customer.company,
        "prioritycode": chance.choice((1, 2, 2, 3)),
        "caseorigincode": chance.choice((1, 1, 2, 2, 3, 2483)),
        "casetypecode": chance.randint(1, 3),
        "customersatisfactioncode": chance.randint(1, 5) if status in _SOLVED and script.maybe(0.7) else None,
        "isescalated": escalated,
        "escalatedon": created + dt.timedelta(hours=chance.randint(1, 20)) if escalated else None,
        "followupby": created + dt.timedelta(days=chance.randint(1, 14)) if script.maybe(0.5) else None,
        "description": "Reported by " + customer.name + "." if script.maybe(0.4) else None,
        "new_priority": script.one_or_none(0.5, PRIORITIES),
        "ownerid": _owner(number, chance.choice(AGENTS)),
        "statuscode": status,
    }  # fmt: skip
    return script.create("incident", str(number), values, created)

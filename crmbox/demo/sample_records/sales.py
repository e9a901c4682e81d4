"""Leads and opportunities, in every state that they can have."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from crmbox.demo.sample_records.customers import Customer
from crmbox.demo.sample_records.locales import LOCALES
from crmbox.demo.sample_records.organization import SELLERS
from crmbox.demo.sample_records.script import PRIORITIES, Script, user
from crmclient.values import Reference, Value

LEADS: Final = 150
OPPORTUNITIES: Final = 250

_SUBJECTS: Final = (
    "{} machines for the new plant",
    "Licences for {} workplaces",
    "Service contract over {} months",
    "Training for {} people",
    "Replacement of {} units",
    "Pilot project with {} users",
)
_LEAD_STATUSES: Final = (1, 1, 1, 2, 2, 3, 4, 5, 6, 7)
_OPPORTUNITY_STATUSES: Final = (1, 1, 1, 1, 2, 3, 3, 3, 4, 5)
_WON: Final = 3
_OPEN: Final = frozenset({1, 2})


def write_leads(script: Script) -> list[Reference]:
    return [_write_lead(script, number) for number in range(1, LEADS + 1)]


def write_opportunities(
    script: Script, accounts: Sequence[Customer], contacts: Sequence[Customer], leads: Sequence[Reference]
) -> list[Reference]:
    return [
        _write_opportunity(script, number, accounts, contacts, leads)
        for number in range(1, OPPORTUNITIES + 1)
    ]


def _write_lead(script: Script, number: int) -> Reference:
    """Write the lead with this number. Its values are random, but the same at each loading."""
    chance = script.chance
    locale = chance.choice(LOCALES)
    city, _ = chance.choice(locale.cities)
    values: dict[str, Value] = {
        "subject": _subject(script),
        "firstname": chance.choice(locale.first_names),
        "lastname": chance.choice(locale.last_names),
        "companyname": locale.company.format(chance.choice(locale.stems)),
        "emailaddress1": f"lead{number:03d}@mail.example",
        "telephone1": f"{locale.dialling_code} {chance.randint(1000000, 9999999)}",
        "address1_city": city,
        "address1_country": locale.country,
        "leadsourcecode": chance.choice((1, 3, 6, 7, 8, 8, 8, 10)),
        "leadqualitycode": chance.randint(1, 3),
        "industrycode": script.one_or_none(0.6, range(1, 34)),
        "estimatedamount": Decimal(chance.randrange(10, 4000) * 100) if script.maybe(0.5) else None,
        "estimatedclosedate": script.date(-200, 200) if script.maybe(0.5) else None,
        "new_priority": script.one_or_none(0.4, PRIORITIES),
        "ownerid": user(chance.choice(SELLERS)),
        "statuscode": chance.choice(_LEAD_STATUSES),
    }  # fmt: skip
    return script.create("lead", str(number), values)


def _write_opportunity(
    script: Script,
    number: int,
    accounts: Sequence[Customer],
    contacts: Sequence[Customer],
    leads: Sequence[Reference],
) -> Reference:
    """Write the opportunity with this number, of a random customer and sometimes from a lead.

    Its values are random, but the same at each loading, and fit its status: only closed opportunities have a
    close date, and only won ones an actual value.
    """
    chance = script.chance
    customer = chance.choice(accounts if script.maybe(0.85) else contacts)
    status = chance.choice(_OPPORTUNITY_STATUSES)
    created = script.past(customer.created)
    value = Decimal(chance.randint(1_000_00, 900_000_00)).scaleb(-2)
    closed = status not in _OPEN
    values: dict[str, Value] = {
        "name": _subject(script),
        "customerid": customer.reference,
        "parentaccountid": customer.reference if customer.reference.entity == "account" else None,
        "parentcontactid": customer.reference if customer.reference.entity == "contact" else None,
        "originatingleadid": chance.choice(leads) if script.maybe(0.25) else None,
        "estimatedvalue": value if script.maybe(0.95) else None,
        "actualvalue": value * chance.choice((80, 90, 100)) / 100 if status == _WON else None,
        "budgetamount": Decimal(chance.randrange(1, 900) * 1000) if script.maybe(0.4) else None,
        "estimatedclosedate": (created + dt.timedelta(days=chance.randint(20, 240))).date(),
        "actualclosedate": script.past(created).date() if closed else None,
        "closeprobability": 100 if status == _WON else chance.randrange(5, 95, 5) if not closed else 0,
        "opportunityratingcode": chance.randint(1, 3),
        "salesstage": 3 if closed else chance.randint(0, 3),
        "new_priority": script.one_or_none(0.5, PRIORITIES),
        "ownerid": user(chance.choice(SELLERS)),
        "statuscode": status,
    }  # fmt: skip
    return script.create("opportunity", str(number), values, created)


def _subject(script: Script) -> str:
    return script.chance.choice(_SUBJECTS).format(script.chance.choice((3, 5, 10, 12, 24, 40, 120)))

"""Two hundred accounts in ten countries, and a thousand contacts, nearly all of them at an account."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from crmbox.demo.people import KEY_ACCOUNTS
from crmbox.demo.sample_records.locales import LOCALES, Locale
from crmbox.demo.sample_records.organization import SELLERS
from crmbox.demo.sample_records.script import PRIORITIES, Script, user
from crmclient.platform import Update
from crmclient.values import Reference, Value

ACCOUNTS: Final = 200
CONTACTS: Final = 1000

_JOBS: Final = (
    "Purchasing Manager",
    "Managing Director",
    "Head of IT",
    "Accountant",
    "Plant Manager",
    "Assistant",
    "Project Lead",
)
_INTERESTS: Final = range(100000000, 100000005)
# Contacts that documents name: number, first and last name, job. They are active, and each is at an account.
_NAMED: Final = {
    1: ("Clara", "Customer", "Managing Director"),
    201: ("Conny", "Colleague", "Assistant"),
    202: ("Cosmo", "Contact", "Plant Manager"),
}


@dataclass(frozen=True, slots=True)
class Customer:
    """An account or contact, with what the records that refer to it need."""

    reference: Reference
    locale: Locale
    name: str
    created: dt.datetime
    active: bool
    # The account that it is, or that it belongs to.
    company: Reference | None = None


def write_accounts(script: Script) -> list[Customer]:
    accounts: list[Customer] = []
    for number in range(1, ACCOUNTS + 1):
        # Some of the later accounts are children of one that is written already.
        parent = script.chance.choice(accounts).reference if number > 20 and script.maybe(0.12) else None
        accounts.append(_write_account(script, number, parent))
    return accounts


def write_contacts(script: Script, accounts: Sequence[Customer]) -> tuple[list[Customer], list[Update]]:
    """Write the contacts.

    Return them, and the updates that make some the primary contact of their account.
    """
    contacts: list[Customer] = []
    primary: dict[str, Reference] = {}
    for number in range(1, CONTACTS + 1):
        # Nearly all contacts belong to an account. The first one of each becomes its primary contact.
        account = accounts[(number - 1) % len(accounts)] if script.maybe(0.97) or number in _NAMED else None
        contact = _write_contact(script, number, account)
        contacts.append(contact)
        if account is not None:
            primary.setdefault(account.reference.id, contact.reference)
    updates = [Update("account", id, {"primarycontactid": contact}) for id, contact in primary.items()]
    return contacts, updates


def _write_account(script: Script, number: int, parent: Reference | None) -> Customer:
    """Write the account with this number, as a child of `parent`.

    Its values are random, but the same at each loading. `script.maybe` and `script.one_or_none` take
    probabilities.
    """
    chance = script.chance
    locale = LOCALES[(number - 1) % len(LOCALES)]
    city, postal_code = chance.choice(locale.cities)
    stem = locale.stems[(number - 1) // len(LOCALES) % len(locale.stems)]
    # A stem comes again in another city, as branches do; the first of each keeps the plain name.
    branch = (number - 1) // (len(LOCALES) * len(locale.stems))
    name = locale.company.format(stem) + (f" – {city} {branch}" if branch else "")
    created = script.past()
    # The first account is always active, because documents name contacts of it.
    active = number == 1 or script.maybe(0.93)
    values: dict[str, Value] = {
        "name": name,
        "accountnumber": f"A-{number:05d}",
        "telephone1": _phone(script, locale),
        "emailaddress1": f"info@a{number:05d}.example",
        "websiteurl": f"https://a{number:05d}.example" if script.maybe(0.8) else None,
        "revenue": _amount(script, 50_000, 90_000_000, places=2) if script.maybe(0.9) else None,
        "creditlimit": Decimal(chance.randrange(0, 200) * 500) if script.maybe(0.6) else None,
        "numberofemployees": script.one_or_none(0.85, (3, 8, 14, 25, 60, 140, 320, 1200)),
        "industrycode": script.one_or_none(0.92, range(1, 34)),
        "customertypecode": chance.choice((3, 3, 3, 8, 8, 5, 9, 10, 12)),
        "accountcategorycode": script.one_or_none(0.7, (1, 2, 2)),
        "ownershipcode": script.one_or_none(0.6, (1, 2, 2, 2, 3)),
        "paymenttermscode": chance.randint(1, 4),
        "preferredcontactmethodcode": chance.choice((1, 2, 2, 3)),
        "donotemail": script.maybe(0.08),
        "donotphone": script.maybe(0.05),
        "creditonhold": script.maybe(0.04),
        "address1_line1": f"{chance.randint(1, 220)} {stem}",
        "address1_city": city,
        "address1_postalcode": postal_code,
        "address1_country": locale.country,
        "parentaccountid": parent,
        "description": f"{name}, {city}." if script.maybe(0.3) else None,
        "new_interests": _interests(script),
        "new_priority": script.one_or_none(0.8, PRIORITIES),
        "new_discount": Decimal(chance.randrange(0, 2500)) / 100 if script.maybe(0.5) else None,
        "new_customersince": script.date(-6000, -730) if script.maybe(0.6) else None,
        "new_legacynumber": 10_000_000_000 + number * 7 if script.maybe(0.5) else None,
        "ownerid": _owner(script),
        "statuscode": 1 if active else 2,
    }  # fmt: skip
    reference = script.create("account", f"A-{number:05d}", values, created)
    return Customer(
        reference=reference, locale=locale, name=name, created=created, active=active, company=reference
    )


def _write_contact(script: Script, number: int, account: Customer | None) -> Customer:
    """Write the contact with this number, of an account or of none.

    Its values are random, but the same at each loading. Some contacts (`_NAMED`) have a given name, because
    documents name them.
    """
    chance = script.chance
    locale = account.locale if account is not None else chance.choice(LOCALES)
    first, last = chance.choice(locale.first_names), chance.choice(locale.last_names)
    city, postal_code = chance.choice(locale.cities)
    created = script.past(account.created if account is not None else None)
    active = script.maybe(0.95) or number in _NAMED
    domain = account.reference.id[:8] if account is not None else "mail"
    values: dict[str, Value] = {
        "firstname": first,
        "lastname": last,
        "jobtitle": script.one_or_none(0.8, _JOBS),
        "emailaddress1": f"c{number:04d}@{domain}.example" if script.maybe(0.93) else None,
        "telephone1": _phone(script, locale) if script.maybe(0.7) else None,
        "mobilephone": _phone(script, locale) if script.maybe(0.6) else None,
        "gendercode": script.one_or_none(0.4, (1, 2)),
        "accountrolecode": script.one_or_none(0.6, (1, 2, 2, 3)),
        "birthdate": script.date(-25_000, -8_000) if script.maybe(0.4) else None,
        "donotemail": script.maybe(0.1),
        "address1_city": city,
        "address1_postalcode": postal_code,
        "address1_country": locale.country,
        "parentcustomerid": account.reference if account is not None else None,
        "preferredsystemuserid": user(chance.choice(SELLERS)) if script.maybe(0.2) else None,
        "new_priority": script.one_or_none(0.3, PRIORITIES),
        "new_externalid": _external_id(script) if script.maybe(0.2) else None,
        "ownerid": _owner(script),
        "statuscode": 1 if active else 2,
    }  # fmt: skip
    # Replaced only now, so that the random values of all other contacts do not depend on it.
    if number in _NAMED:
        first, last, job = _NAMED[number]
        mail = f"{first}.{last}@{domain}.example".lower()
        values |= {"firstname": first, "lastname": last, "jobtitle": job, "emailaddress1": mail}
    reference = script.create("contact", str(number), values, created)
    company = account.reference if account is not None else None
    return Customer(
        reference=reference,
        locale=locale,
        name=f"{first} {last}",
        created=created,
        active=active,
        company=company,
    )


def _owner(script: Script) -> Reference:
    if script.maybe(0.05):
        return Reference("team", KEY_ACCOUNTS)
    return user(script.chance.choice(SELLERS))


def _interests(script: Script) -> tuple[int, ...] | None:
    interests = script.chance.sample(_INTERESTS, script.chance.randint(0, 3))
    return tuple(sorted(interests)) or None


def _external_id(script: Script) -> str:
    return str(uuid.UUID(int=script.chance.getrandbits(128), version=4))


def _phone(script: Script, locale: Locale) -> str:
    return f"{locale.dialling_code} {script.chance.randint(20, 99)} {script.chance.randint(1000000, 9999999)}"


def _amount(script: Script, least: int, most: int, *, places: int) -> Decimal:
    return Decimal(script.chance.randint(least * 10**places, most * 10**places)).scaleb(-places)

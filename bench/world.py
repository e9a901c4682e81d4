"""What every application of the bench holds: the same options, contacts, accounts, people and signing key."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

ACCOUNTS = 10_000
# How many times as many accounts there are where lists are read at size.
COPIES = 100
FILE_BYTES = 10 * 1024 * 1024
FILE_NAME = "contract.pdf"
SIGNING_KEY = "bench-only-signing-key-of-local-tokens-0123456789"
ISSUER = "portico"
AUDIENCE = "portico-api"
ROLES = ("sales-rep", "sales-manager")
# User name and role: one who may create accounts, one who may not.
PEOPLE = {"rep": "sales-rep", "agent": "support"}


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of an option set, with its label in each locale."""

    value: int
    hidden: bool
    labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class Contact:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Account:
    """`revenue` is exact text, `contact` an id, `created` an instant in ISO 8601."""

    id: str
    name: str
    phone: str | None
    revenue: str | None
    industry: int | None
    contact: str | None
    created: str


@dataclass(frozen=True, slots=True)
class World:
    """Read from our service's platform once, then given to the others as a file.

    `document` is the file that the first account holds, `FILE_BYTES` long.
    """

    priorities: list[Choice]
    industries: list[Choice]
    contacts: list[Contact]
    accounts: list[Account]
    document: str

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> World:
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            priorities=[Choice(**choice) for choice in data["priorities"]],
            industries=[Choice(**choice) for choice in data["industries"]],
            contacts=[Contact(**contact) for contact in data["contacts"]],
            accounts=[Account(**account) for account in data["accounts"]],
            document=data["document"],
        )


def account_name(number: int) -> str:
    return f"Account {number:05d}"


def account_phone(number: int) -> str:
    """Twenty accounts share one."""
    return f"+44 20 {number // 20:08d}"


def copied(text: str, copy: int) -> str:
    """A name or a phone in one of the copies that make a million of the accounts."""
    return f"{text} {copy:02d}"

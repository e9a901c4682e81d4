"""What callers were told, kept to be compared with what the platform holds at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from threading import Lock

from tests.servers import Site

# What every account of a drill is called; its number follows.
NAME = "Drill"

_READ = f"""
import json
from crmclient.query.ast import ALL, Column, Condition, Filter, Operator, Query
from designer.platform import get_platform
columns = (Column("accountid"), Column("name"), Column("telephone1"))
named = Filter((Condition("name", Operator.BEGINS_WITH, ("{NAME} ",)),))
rows = get_platform().query(Query("account", columns, filter=named), ALL).rows
print(json.dumps([[str(row[column.attribute] or "") for column in columns] for row in rows]))
"""


@dataclass(frozen=True)
class Held:
    """An account as the platform holds it."""

    id: str
    name: str
    phone: str


def held(site: Site, **settings: str) -> list[Held]:
    """The drill's accounts, as the platform of an installation has them."""
    rows = json.loads(site.manage("shell", "-c", _READ, **settings).splitlines()[-1])
    return [Held(*row) for row in rows]


@dataclass
class Ledger:
    """The accounts that callers made, by id, and all that they were refused."""

    created: dict[str, str] = field(default_factory=dict)
    """Names by the id that the create answered."""
    sent: set[str] = field(default_factory=set)
    """Names of creates that were sent, whether or not they were answered."""
    phones: dict[str, set[str]] = field(default_factory=dict)
    """What may stand in the record, by id: what was acknowledged last, and what was sent since."""
    answers: Counter[str] = field(default_factory=Counter)
    """How often each answer came: `200`, `503 platform_unavailable`, `connection`."""
    faults: list[str] = field(default_factory=list)
    """What no caller may ever see."""
    _lock: Lock = field(default_factory=Lock)

    def count(self, answer: str) -> None:
        with self._lock:
            self.answers[answer] += 1

    def fault(self, what: str) -> None:
        with self._lock:
            self.faults.append(what)

    def report(self) -> str:
        answers = ", ".join(f"{answer}: {times}" for answer, times in sorted(self.answers.items()))
        return f"{len(self.created)} of {len(self.sent)} accounts created. Answers: {answers}."

    def compare(self, accounts: Collection[Held]) -> list[str]:
        """What differs from what callers were told, in words; empty when all is as they were told."""
        if not self.created:
            return ["nothing was created: the drill shows nothing"]
        held = {account.id: account for account in accounts}
        copies = Counter(account.name for account in accounts)
        wrong = [f"lost: {name} ({id})" for id, name in self.created.items() if id not in held]
        wrong += [f"there {times} times: {name}" for name, times in copies.items() if times > 1]
        wrong += [f"never sent: {name}" for name in copies if name not in self.sent]
        wrong += [
            f"{account.name} has the phone {account.phone}, not one of {sorted(self.phones[account.id])}"
            for account in accounts
            if account.id in self.phones and account.phone not in self.phones[account.id]
        ]
        return wrong

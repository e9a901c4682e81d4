"""When things happened in the demo's two years."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from crmclient.embedded.demo.people import stable_id
from crmclient.platform import Create
from crmclient.values import Guid, Reference, Value

DAYS: Final = 730
PRIORITIES: Final = (100000000, 100000001, 100000001, 100000002, 100000003)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dated:
    """A record to create, and the moment it says it was created."""

    create: Create
    created: dt.datetime


@dataclass(slots=True)
class Script:
    """The records written so far, and the chance that shapes the next. `today` is the day of loading, UTC."""

    today: dt.datetime
    chance: random.Random
    records: list[Dated] = field(default_factory=list)

    def create(
        self, entity: str, key: str, values: dict[str, Value], created: dt.datetime | None = None
    ) -> Reference:
        """Note a record under its stable id; empty values are left out."""
        id = stable_id(entity, key)
        given = {name: value for name, value in values.items() if value is not None}
        self.records.append(Dated(Create(entity, given, id), created or self.past()))
        return Reference(entity, id)

    def past(self, since: dt.datetime | None = None) -> dt.datetime:
        """A moment of the working hours of some day in the two years or, given `since`, after it."""
        days = DAYS if since is None else (self.today - since).days
        if since is not None and days < 2:
            return since
        day = self.today - dt.timedelta(days=self.chance.randint(1, max(1, days - 1)))
        return day.replace(
            hour=self.chance.randint(6, 17), minute=self.chance.randint(0, 59), second=0, microsecond=0
        )

    def date(self, earliest: int, latest: int) -> dt.date:
        """A day between `earliest` and `latest` days from today, which may be negative."""
        return (self.today + dt.timedelta(days=self.chance.randint(earliest, latest))).date()

    def maybe(self, probability: float) -> bool:
        return self.chance.random() < probability

    def some(self, probability: float, choices: Sequence[T]) -> T | None:
        """One of `choices`, or nothing."""
        return self.chance.choice(choices) if self.maybe(probability) else None


def user(id: Guid) -> Reference:
    return Reference("systemuser", id)

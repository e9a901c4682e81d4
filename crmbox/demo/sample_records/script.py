"""The script of the demo's two years: what was made, in which order, and when."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from crmbox.demo.people import stable_id
from crmclient.platform import Create
from crmclient.values import Guid, Reference, Value

DAYS: Final = 730
"""How long before the day of loading the records begin."""
# Normal stands twice, so that it is chosen twice as often.
PRIORITIES: Final = (100000000, 100000001, 100000001, 100000002, 100000003)
T = TypeVar("T")


@dataclass(slots=True)
class Script:
    """The records written so far, and the random numbers for the next.

    `today` is the day of loading, in UTC.
    """

    today: dt.datetime
    chance: random.Random
    records: list[Create] = field(default_factory=list)

    def create(
        self, entity: str, key: str, values: dict[str, Value], created: dt.datetime | None = None
    ) -> Reference:
        """Add a record with its stable id, created at `created` or at any time. Empty values are left out."""
        filled_values: dict[str, Value] = {name: value for name, value in values.items() if value is not None}
        filled_values["overriddencreatedon"] = created or self.past()
        return self._add(entity, key, filled_values)

    def associate(self, intersect: str, key: str, pair: dict[str, Value]) -> None:
        """Add a pair of a many-to-many relationship, which has no time."""
        self._add(intersect, key, pair)

    def _add(self, entity: str, key: str, values: dict[str, Value]) -> Reference:
        id = stable_id(entity, key)
        self.records.append(Create(entity, values, id))
        return Reference(entity, id)

    def past(self, since: dt.datetime | None = None) -> dt.datetime:
        """Return a random moment in working hours: within the two years before today, or after `since`.

        There may be no day between `since` and today. Then `since` itself is returned.
        """
        days = DAYS if since is None else (self.today - since).days
        if since is not None and days < 2:
            return since
        day = self.today - dt.timedelta(days=self.chance.randint(1, max(1, days - 1)))
        return day.replace(
            hour=self.chance.randint(6, 17), minute=self.chance.randint(0, 59), second=0, microsecond=0
        )

    def date(self, earliest: int, latest: int) -> dt.date:
        """Return a day between `earliest` and `latest` days from today. Both may be negative."""
        return (self.today + dt.timedelta(days=self.chance.randint(earliest, latest))).date()

    def maybe(self, probability: float) -> bool:
        return self.chance.random() < probability

    def one_or_none(self, probability: float, choices: Sequence[T]) -> T | None:
        """Return one of `choices` with `probability`; otherwise None."""
        return self.chance.choice(choices) if self.maybe(probability) else None


def user(id: Guid) -> Reference:
    return Reference("systemuser", id)

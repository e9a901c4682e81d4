"""Decides which process does a job that only one may do at a time. The database decides, for all machines."""

from __future__ import annotations

import datetime as dt
from time import sleep

from django.db.models import Q

from project.models import Claim

# Between two looks at a claim that somebody else has, in seconds.
_PAUSE = 0.5


def take(name: str, holder: str, seconds: float) -> bool:
    """Claim the job `name` for `holder`, for `seconds` from now. Return False while another holder has it.

    A holder that has the job already keeps it for `seconds` from now, which may be earlier than before.
    """
    now = dt.datetime.now(dt.UTC)
    until = now + dt.timedelta(seconds=seconds)
    if Claim.objects.filter(name=name, until__gt=now).exclude(holder=holder).exists():
        return False
    claimable = Claim.objects.filter(Q(until__lte=now) | Q(holder=holder), name=name)
    if claimable.update(holder=holder, until=until):
        return True
    # Several may find no row. One of them inserts it.
    Claim.objects.bulk_create([Claim(name=name, holder=holder, until=until)], ignore_conflicts=True)
    return Claim.objects.filter(name=name, holder=holder, until__gt=now).exists()


def renew(name: str, holder: str, seconds: float) -> bool:
    """Keep the job `name` for `seconds` from now. Return False where `holder` does not have it any more."""
    until = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds)
    return bool(Claim.objects.filter(name=name, holder=holder).update(until=until))


def end_of(name: str, holder: str) -> dt.datetime | None:
    """Return when the claim of `holder` to a job ends, or has ended; None if another holder has it."""
    return Claim.objects.filter(name=name, holder=holder).values_list("until", flat=True).first()


def take_from_the_dead(name: str, holder: str, seconds: float) -> bool:
    """Take a job as `take` does, but wait for a claim that nobody renews. Return False if its holder does.

    A killed process could not give its claim back: the claim ends by itself.
    """
    known_end = _end_of_claim(name)
    while not take(name, holder, seconds):
        end = _end_of_claim(name)
        if known_end is not None and end is not None and end > known_end:
            # The holder lives: it has renewed its claim.
            return False
        known_end = end
        sleep(_PAUSE)
    return True


def _end_of_claim(name: str) -> dt.datetime | None:
    """Return when the claim of a job ends; None if nobody has had it."""
    return Claim.objects.filter(name=name).values_list("until", flat=True).first()


def give_back(name: str, holder: str) -> None:
    """End the claim of `holder`, so that another holder can take the job at once."""
    Claim.objects.filter(name=name, holder=holder).update(until=dt.datetime.now(dt.UTC))

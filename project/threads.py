"""Who may hold how many of a worker's threads, so that whatever is slow leaves some for all else."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.conf import settings

from crmclient.dataverse.http.bulkhead import threads_held
from project import applications

MOST: Final = 100


class Shares(NamedTuple):
    """Threads that work on calls of the CRM in the box, that wait for that, that find out who calls, and that
    are left for what needs none of these.
    """

    platform: int
    queue: int
    about_callers: int
    left: int


def shares() -> Shares:
    """THREADS calls may be under way at once; half as many threads, and at least three, come on top."""
    threads = int(settings.PORTICO["THREADS"])
    more = max(3, threads // 2)
    return Shares(threads, more // 3, more // 3, more - 2 * (more // 3))


def of_a_worker() -> int:
    """Threads that wait for Dataverse come on top too: however slow it is, THREADS are left for all else."""
    env = settings.PORTICO
    if env["CRM_URL"]:
        return int(env["THREADS"]) + threads_held(at_the_platform())
    return sum(shares())


def at_the_platform() -> int:
    """Requests to Dataverse that this process may have under way at once.

    That is what all its application users may have, in all processes where these count together; no more than
    MOST, though, of which each costs two threads.
    """
    env = settings.PORTICO
    one = int(env["CRM_CONCURRENCY"])
    if not env["CACHE_URL"]:
        one = max(1, one // int(env["WORKERS"]))
    return min(max(one, MOST), one * len(applications.of_the_platform()))

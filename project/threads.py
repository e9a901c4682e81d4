"""Shares out a worker's threads, so that slow calls leave some for everything else."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.conf import settings

from crmclient.dataverse.http.bulkhead import threads_held
from project import applications

# Requests to Dataverse that one process has under way at once, unless one user may have more.
MOST: Final = 100

LOGINS: Final = 2
"""Threads of a worker that check passwords at once. More would be no quicker, as each keeps a processor
busy."""


class Shares(NamedTuple):
    """How the request threads of a worker are shared out: `platform` for calls of the CRM in the box, `queue`
    for calls that wait for a place there, `about_callers` for finding out who calls, and `left` for requests
    that need none of these.
    """

    platform: int
    queue: int
    about_callers: int
    left: int


def shares() -> Shares:
    """Return how the request threads of a worker are shared out.

    THREADS calls may be under way at once. Half as many threads, and at least three, are added: a third of
    them for the queue, a third for finding out who calls, and what remains for everything else.
    """
    threads = int(settings.PORTICO["THREADS"])
    extra_threads = max(3, threads // 2)
    third = extra_threads // 3
    return Shares(threads, queue=third, about_callers=third, left=extra_threads - 2 * third)


def request_threads() -> int:
    """Return the number of request threads of a worker.

    Threads that wait for Dataverse are added to THREADS: however slow Dataverse is, THREADS are left for
    everything else. So are those that check passwords.
    """
    env = settings.PORTICO
    if env["CRM_URL"]:
        return int(env["THREADS"]) + threads_held(platform_concurrency()) + LOGINS
    return sum(shares()) + LOGINS


def platform_concurrency() -> int:
    """Return how many requests to Dataverse this process may have under way at once.

    An application user may have CRM_CONCURRENCY requests: with CACHE_URL in all processes together, else each
    worker has its part of them. The result is for all application users. It is at most MOST, because each
    request costs two threads, but never less than one user may have.
    """
    env = settings.PORTICO
    of_one_user = int(env["CRM_CONCURRENCY"])
    if not env["CACHE_URL"]:
        of_one_user = max(1, of_one_user // int(env["WORKERS"]))
    return min(max(of_one_user, MOST), of_one_user * len(applications.of_the_platform()))

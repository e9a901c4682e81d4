"""A worker process: granian's, with `Front` where its event loop would start a coroutine for each request.

The only module that knows more of granian than it documents; its release is pinned, and tests of the running
server hold what is relied on here.
"""

from __future__ import annotations

import asyncio
import ctypes
import faulthandler
import multiprocessing
import os
import signal
import sys
from functools import partial
from multiprocessing.util import Finalize
from typing import Any

from django.conf import settings
from granian._granian import CallbackScheduler
from granian.server import mp

from project import threads
from project.server.connections import ConnectionWatch
from project.server.front import Front, Settings
from project.server.heartbeats import count_up
from project.server.pace import Limits

SHOW_THREADS = signal.SIGUSR1
"""Writes to standard error what each thread is doing."""

_STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM}
# The option of `prctl` that names the signal a process gets when its parent dies.
_PARENT_DEATH_SIGNAL = 1
# Parameters of `mallopt`, from glibc's malloc.h.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8


def start(counts: Any, number: int, *arguments: Any) -> None:
    """Run a worker process. `number` counts from 1; it and `arguments` come from granian.

    `counts` are those of `heartbeats.shared_counts`.
    """
    # What the threads were doing when the worker fell silent: places in the code, no values.
    faulthandler.register(SHOW_THREADS)
    listen_for_signals()
    _end_with_the_supervisor()
    _give_large_buffers_back()
    # Any: by granian's types this cannot be replaced.
    server: Any = mp
    server._new_cbscheduler = partial(_scheduler_for_front, counts, number - 1)
    mp.MPServer._spawn_asgi_worker(number, *arguments)


def lose_no_signal_at_the_fork() -> None:
    """Let what a new worker is sent wait until it is a process of its own. Called once, by the supervisor.

    Python forgets the signals that reach a child before its first line. A worker that never heard of the stop
    would hold up the whole service for the grace period, and be killed.
    """
    hold = partial(signal.pthread_sigmask, signal.SIG_BLOCK, _STOP_SIGNALS)
    let_through = partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, _STOP_SIGNALS)
    os.register_at_fork(before=hold, after_in_parent=let_through, after_in_child=let_through)


def listen_for_signals() -> None:
    """End at SIGTERM until granian handles it. The handlers that the fork inherited do nothing here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inherited = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # The inherited handler is a method of the supervisor, of which the fork has a copy.
    supervisor = getattr(inherited, "__self__", None)
    if supervisor is not None and supervisor.interrupt_signal:
        # The service is being stopped: this worker was forked at the same moment.
        sys.exit()


def _end_with_the_supervisor() -> None:
    """End this worker when the supervisor dies. Else the workers of a killed supervisor would hold
    the port.
    """
    supervisor = multiprocessing.parent_process()
    if sys.platform == "linux" and supervisor is not None:
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)
        # It may have died before: then no signal comes any more.
        if os.getppid() != supervisor.pid:
            sys.exit(1)


def _give_large_buffers_back() -> None:
    """Let glibc give large buffers back to the system.

    Pieces of files pass through many threads, and glibc would keep some megabytes for each of them.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        # A threshold that is set stays. By itself glibc raises it with the buffers that are freed.
        mallopt(_M_MMAP_THRESHOLD, 128 * 1024)
        # By itself glibc has up to eight arenas for each processor, and each keeps what was freed in it.
        mallopt(_M_ARENA_MAX, 2)


def _scheduler_for_front(
    counts: Any, index: int, loop: asyncio.AbstractEventLoop, callback: Any, **options: Any
) -> Any:
    """Return a scheduler that hands requests to `Front`, in place of granian's own. Called once, when the
    worker's event loop exists.

    `index` counts workers from 0. Granian's `callback` would be called for each request. The threads that the
    worker needs besides start here, too.
    """
    # Loading it needs the settings, which a process that is spawned has only now.
    from project.observability import process_figures
    from project.observability.ledger import ledger
    from project.wsgi import application

    env = settings.PORTICO
    limits = Limits(env["CLIENT_PATIENCE"], env["CLIENT_RATE"], env["TRANSFER_DEADLINE"])
    watch = ConnectionWatch(env["PORT"], limits, 0 if env["TRUSTED_PROXIES"] else env["ADDRESS_CONNECTIONS"])
    front_settings = Settings(
        threads=threads.request_threads(),
        logins=threads.LOGINS,
        small=env["BODY_LIMIT"],
        folder=env["UPLOAD_FOLDER"] or None,
        limits=limits,
    )
    front = Front(application, loop, front_settings, watch.end)
    watch.start(front.clients)
    process_figures.tell_of(front.thread_pool)
    ledger.start()
    # Before the end of the telemetry, which has 0: it sends what the ledger hands on.
    Finalize(None, ledger.flush, exitpriority=1)
    count_up(counts, index, loop, front.put_first)

    # Its stub knows neither these nor the attribute.
    scheduler_class: Any = CallbackScheduler
    scheduler = scheduler_class(loop, callback, None, None, None)
    scheduler._schedule_fn = front.take
    return scheduler

"""The way of a request through a worker: the event loop waits for clients, threads work.

A request without a body goes from the server program straight to a thread, and a short answer straight back:
no event loop takes part, which would cost a fifth of the time of an option set. What may wait for a client,
a body on its way in or a long answer on its way out, is a task of the event loop and holds no thread.
"""

from __future__ import annotations

import asyncio
import io
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Final, Protocol, TypeVar

from django.core.handlers.wsgi import WSGIRequest

from project.observability.middleware import put_refused
from project.server.answers import PIECE, Answer, Application
from project.server.bodies import (
    BodyWanted,
    BrokenOff,
    Message,
    UnreceivedBody,
    announced_body,
    drop_unwanted,
    take_in,
    until_gone,
)
from project.server.environ import Environ, environ_of, path_of
from project.server.pace import Limits, Pace, TooSlow
from project.server.worker_threads import Job, ThreadPool
from runtime.http.bodies import UNWANTED_IS_TAKEN_IN
from runtime.http.deadlines import RECEIVED
from runtime.http.failures import error_response
from runtime.http.limits import COUNTED
from runtime.http.problems import Problem

logger = logging.getLogger("portico.server")

Result = TypeVar("Result")
Client = tuple[str, str]

# What checks a password, which is meant to take a processor's time. A slash at the end makes no difference.
LOGINS: Final = frozenset({"/api/token", "/admin/login"})


class Arriving(Awaitable[Message], Protocol):
    """A message of a body; `result` is there once it is `done`."""

    def done(self) -> bool: ...

    def result(self) -> Message: ...


class Channel(Protocol):
    """Granian's `proto` of one request: what its client sends, and what is sent to the client."""

    def receive(self) -> Arriving: ...

    def send(self, message: dict[str, Any]) -> Any: ...


class Incoming(Protocol):
    """A request as granian hands it over; without `done` its client never gets an answer."""

    scope: dict[str, Any]
    proto: Channel

    def done(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """`threads` is the number of request threads. At most `logins` of them check passwords at once.

    `small` is the length in bytes of the longest body that is taken in before the application is asked
    whether it wants the body. Larger bodies wait in `folder`; None stands for the system's temporary folder.
    `limits` are for clients that send or read slowly.
    """

    threads: int
    logins: int
    small: int
    folder: str | None
    limits: Limits


class Front:
    """Takes granian's requests in, on any thread, and sees to it that each is answered.

    `end_connection` ends the connection of a client.
    """

    def __init__(
        self,
        application: Application,
        loop: asyncio.AbstractEventLoop,
        settings: Settings,
        end_connection: Callable[[Client], None],
    ) -> None:
        self._application = application
        self._loop = loop
        self._settings = settings
        self._end_connection = end_connection
        self.thread_pool = ThreadPool(settings.threads, settings.logins)
        self._tasks: set[asyncio.Task[None]] = set()
        # Whose requests are being answered, as (address, port).
        self.clients: set[Client] = set()

    def put_first(self, job: Callable[[], None]) -> None:
        """Let a request thread do `job` before the requests that wait for a thread."""
        self.thread_pool.put_first(job)

    def take(self, incoming: Incoming) -> None:
        """Begin a request. Granian calls this for each request, on a thread of its own."""
        scope = incoming.scope
        self.clients.add(scope["client"])
        length, waits_for_continue = announced_body(scope["headers"])
        if not length:
            self.thread_pool.put(partial(self._respond, incoming, None, time.monotonic()))
        elif waits_for_continue or length > self._settings.small:
            self._schedule(incoming, self._ask_first(incoming, length, waits_for_continue))
        else:
            # Asked for now: most bodies have arrived when a thread is free for them.
            first_message = incoming.proto.receive()
            job = partial(self._respond_if_arrived, incoming, length, first_message, time.monotonic())
            self._put(incoming, job)

    def _put(self, incoming: Incoming, job: Job) -> None:
        """Let a request thread do `job`, which answers a request with a body.

        Logins wait for each other and hold no thread meanwhile. Health and everybody else would wait for as
        many passwords as people sent at once.
        """
        scope = incoming.scope
        if scope["method"] == "POST" and path_of(scope).removesuffix("/") in LOGINS:
            self.thread_pool.put_heavy(job)
        else:
            self.thread_pool.put(job)

    def _respond(
        self, incoming: Incoming, body: BinaryIO | None, received: float, *, counted: bool = False
    ) -> None:
        """Run the application and send its answer. Called on a request thread.

        `received` is the `time.monotonic()` second in which the request, with its body, was complete.
        `counted`: the application has been run before, without the body, and has counted the caller then.
        """
        try:
            environ = self._environ(incoming, body, received)
            if counted:
                environ[COUNTED] = True
            answer = Answer.of(self._application, environ)
        except BaseException:
            self._finish(incoming)
            raise
        finally:
            if body is not None:
                body.close()
        self._send(incoming, answer)

    def _respond_if_arrived(
        self, incoming: Incoming, length: int, first_message: Arriving, received: float
    ) -> None:
        """Respond at once if the body has arrived, else receive it on the event loop. Called on a request
        thread.

        Most bodies have arrived when their turn comes, and need no event loop.
        """
        if first_message.done() and len(body := first_message.result().get("body", b"")) == length:
            self._respond(incoming, io.BytesIO(body), received)
        else:
            self._schedule(incoming, self._receive_and_respond(incoming, length, first_message))

    def _environ(self, incoming: Incoming, body: BinaryIO | None, received: float) -> Environ:
        """Return the WSGI environment of a request, with what the server program tells the application."""
        environ = environ_of(incoming.scope, body)
        environ[RECEIVED] = received
        environ[UNWANTED_IS_TAKEN_IN] = True
        return environ

    def _send(self, incoming: Incoming, answer: Answer) -> None:
        """Send a short answer. For a long one, start a task that sends it. Called on any thread."""
        if answer.is_whole and len(answer.content) <= PIECE:
            # Before it is sent: the connection's next request may begin at once.
            self.clients.discard(incoming.scope["client"])
            send = incoming.proto.send
            send(answer.start)
            send({"type": "http.response.body", "body": answer.content})
            incoming.done()
        else:
            self._schedule(incoming, self._send_long_answer(incoming, answer))

    def _finish(self, incoming: Incoming) -> None:
        """End a request, answered or not."""
        self.clients.discard(incoming.scope["client"])
        incoming.done()

    def _schedule(self, incoming: Incoming, work: Coroutine[Any, Any, None]) -> None:
        """Let the event loop do `work`. Called on any thread."""
        self._loop.call_soon_threadsafe(self._begin, work, incoming)

    def _begin(self, work: Coroutine[Any, Any, None], incoming: Incoming) -> None:
        """Start a task that is kept until it ends. If it fails, the request ends. Called on the
        event loop.
        """
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(partial(self._let_go, incoming))

    def _let_go(self, incoming: Incoming, task: asyncio.Task[None]) -> None:
        """Let go of a task that has ended. If it has failed, the request ends without an answer."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a request was not answered", exc_info=error)
            self._finish(incoming)

    async def _run_on_a_thread(self, work: Callable[[], Result]) -> Result:
        """Run `work` on a request thread. Return or raise what it returns or raises, BodyWanted included."""
        future: asyncio.Future[Result] = self._loop.create_future()
        self.thread_pool.put(partial(self._do, work, future))
        try:
            return await future
        finally:
            # The traceback of an exception holds this frame, and the future holds the exception. Together
            # they would keep the request, and its connection open, until the garbage collector comes by.
            del future

    def _do(self, work: Callable[[], Result], future: asyncio.Future[Result]) -> None:
        """Do the work, and hand its outcome to the event loop, which waits for it. Called on a request
        thread.
        """
        try:
            result = work()
        except BaseException as error:
            self._loop.call_soon_threadsafe(_complete, future, None, error)
        else:
            self._loop.call_soon_threadsafe(_complete, future, result, None)
        # For the same reason as in `_run_on_a_thread`.
        del future

    async def _ask_first(self, incoming: Incoming, length: int, waits_for_continue: bool) -> None:
        """Run the application without the body, and receive the body only if the application wants it.

        For a large body, and for a sender that waits for "100 Continue".
        """
        answer = await self._answer_without_body(incoming)
        if answer is None:
            await self._receive_and_respond(incoming, length, counted=True)
            return
        # A sender that waits for "100 Continue" has sent nothing that could be dropped.
        if answer.status >= 400 and not waits_for_continue:
            await drop_unwanted(incoming.proto.receive, length)
        self._send(incoming, answer)

    async def _receive_and_respond(
        self, incoming: Incoming, length: int, first_message: Arriving | None = None, *, counted: bool = False
    ) -> None:
        """Read the request's body of `length` bytes into memory or a file, and let a worker thread answer it.
        Refuse a body that comes too slowly or finds no room.

        `first_message` is the body's first part, if it is being received already. `counted`: the application
        has been run before, without the body, and has counted the caller then.
        """
        front_settings = self._settings
        try:
            body = await take_in(
                incoming.proto.receive, length, front_settings.limits, front_settings.folder, first_message
            )
        except BrokenOff:
            self._finish(incoming)
        except TooSlow:
            self._refuse(incoming, Problem(408, "too_slow", "The body came too slowly. Send it again."))
        except OSError as error:
            logger.error("a body found no room on disk: %s", error.strerror)
            self._refuse(
                incoming,
                Problem(507, "insufficient_storage", "The body found no room here. Try again later."),
            )
        else:
            self._put(incoming, partial(self._respond, incoming, body, time.monotonic(), counted=counted))

    async def _answer_without_body(self, incoming: Incoming) -> Answer | None:
        """Return the application's answer if it reads no body, as a refusal does.

        None if it begins to read: that ends its run, and it has to run again with the body.
        """
        environ = self._environ(incoming, UnreceivedBody(), time.monotonic())  # type: ignore[arg-type]
        with suppress(BodyWanted):
            return await self._run_on_a_thread(partial(Answer.of, self._application, environ))
        return None

    def _refuse(self, incoming: Incoming, problem: Problem) -> None:
        """Answer with a problem before the body has been read, and close the connection."""
        request = WSGIRequest(self._environ(incoming, None, time.monotonic()))
        response = error_response(problem, request)
        put_refused(request, problem)
        headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
        # What is left of the body would be taken for the next request.
        headers.append((b"connection", b"close"))
        incoming.proto.send(
            {"type": "http.response.start", "status": problem.status_code, "headers": headers}
        )
        incoming.proto.send({"type": "http.response.body", "body": response.content})
        self._finish(incoming)

    async def _send_long_answer(self, incoming: Incoming, answer: Answer) -> None:
        """Send a long answer. Each piece is made when the client has taken the one before."""
        send = incoming.proto.send
        # What is sent after the client has gone is dropped without an error.
        gone = self._loop.create_task(until_gone(incoming.proto.receive))
        try:
            with Pace(self._settings.limits) as pace:
                await send(answer.start)
                while True:
                    content, is_last = memoryview(answer.content), answer.is_whole
                    # An empty last piece is sent, too: it ends the answer.
                    for start in range(0, max(1, len(content)), PIECE):
                        part = bytes(content[start : start + PIECE])
                        has_more = not is_last or start + PIECE < len(content)
                        await send({"type": "http.response.body", "body": part, "more_body": has_more})
                        pace.moved(len(part))
                    if is_last or gone.done():
                        break
                    with pace.our_turn():
                        await self._run_on_a_thread(answer.next_piece)
        except TooSlow:
            self._end_connection(incoming.scope["client"])
        except Exception:
            # What was sent must not pass for the whole.
            self._end_connection(incoming.scope["client"])
            raise
        finally:
            gone.cancel()
            # It may close what belongs to a thread's database connection.
            self.thread_pool.put(answer.close)
            self._finish(incoming)


def _complete(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    """Give a future its result or, with an `error`, its exception. Called on the event loop.

    Do nothing if nobody waits any more.
    """
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)

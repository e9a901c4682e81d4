"""Receives the bodies of requests on the event loop, into memory or onto disk, before a thread sees them."""

from __future__ import annotations

import io
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO, NoReturn, cast

from project.server.pace import Limits, Pace, TooSlow

# Bytes. A longer body waits on disk. Most JSON bodies are smaller.
_IN_MEMORY = 64 * 1024
# For a body that nobody wants: the bytes that are on their way in any case, and the most bytes and seconds
# that are received.
_ON_ITS_WAY, _MOST_UNWANTED = 64 * 1024, 64 * 1024 * 1024
_UNWANTED = Limits(patience=5.0, rate=0, deadline=5.0)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]


class BodyWanted(BaseException):
    """The application asks for a body that has not been taken in.

    No Exception: whatever the application does with its own failures, this one passes through.
    """


class BrokenOff(Exception):
    """The client closed the connection before the end of its body."""


class UnreceivedBody(io.RawIOBase):
    """Stands for a body that has not been received yet."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> NoReturn:
        raise BodyWanted

    def read(self, size: int = -1) -> NoReturn:
        raise BodyWanted

    def readline(self, size: int | None = -1) -> NoReturn:
        raise BodyWanted


def announced_body(headers: list[tuple[bytes, bytes]]) -> tuple[int, bool]:
    """Return the length of the body in bytes, and whether its sender waits for "100 Continue".

    The length is 0 without a body, and for a body in chunks.
    """
    length, waits_for_continue = 0, False
    for name, value in headers:
        if name == b"content-length" and value.isdigit():
            # So many digits are beyond every limit, and `int` refuses thousands of them.
            length = int(value[:18])
        elif name == b"expect":
            waits_for_continue = True
    return length, waits_for_continue


async def take_in(
    receive: Receive,
    length: int,
    limits: Limits,
    folder: str | None,
    first_message: Awaitable[Message] | None = None,
) -> BinaryIO:
    """Receive the whole body, and return it from its beginning.

    `first_message` is the body's first message, if it is on its way already. `folder` is where a long body
    waits; None: the system's temporary folder.

    Raises TooSlow, BrokenOff. Raises OSError when `folder` has no room, after the client has sent the rest.
    """
    if length <= _IN_MEMORY:
        with Pace(limits) as pace:
            return io.BytesIO(
                b"".join([piece async for piece in _pieces(receive, length, pace, first_message)])
            )
    bytes_left = length
    try:
        with ExitStack() as stack:
            spool = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            with Pace(limits) as pace:
                async for piece in _pieces(receive, length, pace, first_message):
                    bytes_left -= len(piece)
                    spool.write(piece)
            spool.seek(0)
            stack.pop_all()  # whoever answers closes it
    except OSError:
        # If nothing has come yet, the first message is still on its way.
        await drop_unwanted(receive, bytes_left, first_message if bytes_left == length else None)
        raise
    return cast(BinaryIO, spool)


async def drop_unwanted(
    receive: Receive, length: int, first_message: Awaitable[Message] | None = None
) -> None:
    """Receive and drop the body of a refused request, `length` bytes, within bounds.

    An unread body makes the connection end, and a client that is cut off while it sends often never sees the
    answer.
    """
    # A shorter body arrives in any case. Of a longer one not even the beginning is waited for.
    if _ON_ITS_WAY < length <= _MOST_UNWANTED:
        with suppress(TooSlow, BrokenOff), Pace(_UNWANTED) as pace:
            async for _ in _pieces(receive, length, pace, first_message):
                pass


async def until_gone(receive: Receive) -> None:
    """Wait for the client to close the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _pieces(
    receive: Receive, length: int, pace: Pace, first_message: Awaitable[Message] | None = None
) -> AsyncIterator[bytes]:
    """Yield the pieces of a body as they come. Raises BrokenOff when the client goes before its end."""
    bytes_left = length
    while bytes_left > 0:
        message = await (first_message or receive())
        first_message = None
        if message["type"] == "http.disconnect":
            raise BrokenOff
        piece: bytes = message["body"]
        if not piece and not message["more_body"]:
            raise BrokenOff
        bytes_left -= len(piece)
        pace.moved(len(piece))
        yield piece

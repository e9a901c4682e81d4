"""The application's answer, as ASGI sends it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from project.server.environ import Environ

Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

# Bytes of a long answer: a thread makes at least so many in one turn, and at most so many are sent at once.
PIECE = 96 * 1024


@lru_cache(maxsize=256)
def _encoded(name: str) -> bytes:
    """Return the name of a header as ASGI has it. It is cached, because the service's own headers are few."""
    return name.lower().encode("latin-1")


class Answer:
    """Status, headers and content of an answer.

    `start` is the ASGI message with status and headers. `content` is the whole content or, unless `is_whole`,
    the piece that is sent next: `next_piece` then makes another one.
    """

    def __init__(self) -> None:
        self.start: dict[str, Any] = {}
        self.content = b""
        self._pieces: Iterator[bytes] = iter(())
        self._close: Callable[[], None] | None = None
        self.is_whole = True

    def _start_response(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        """Keep status and headers. The application calls this (PEP 3333)."""
        encoded = [(_encoded(name), value.encode("latin-1")) for name, value in headers]
        self.start = {"type": "http.response.start", "status": int(status[:3]), "headers": encoded}

    @classmethod
    def of(cls, application: Application, environ: Environ) -> Answer:
        """Run the application, up to the first piece of a long answer. Raises what the application raises."""
        answer = cls()
        response = application(environ, answer._start_response)
        if type(response) is list:
            # All of it, and nothing to clean up.
            answer.content = b"".join(response)
            return answer
        answer._close = getattr(response, "close", None)
        try:
            # Only responses of Django say it. Any other iterable may be long.
            if getattr(response, "streaming", True):
                answer._pieces = iter(response)
                answer.next_piece()
            else:
                answer.content = b"".join(response)
        except BaseException:
            answer.close()
            raise
        if answer.is_whole:
            answer.close()
        return answer

    @property
    def status(self) -> int:
        status: int = self.start["status"]
        return status

    def next_piece(self) -> None:
        """Set `content` to the next piece, joining small ones. `is_whole` then says whether it is the last
        one.
        """
        small_pieces: list[bytes] = []
        size = 0
        self.is_whole = False
        while size < PIECE:
            piece = next(self._pieces, None)
            if piece is None:
                self.is_whole = True
                break
            small_pieces.append(piece)
            size += len(piece)
        self.content = small_pieces[0] if len(small_pieces) == 1 else b"".join(small_pieces)

    def close(self) -> None:
        """Let the application clean up. It does no harm to call this more than once."""
        close, self._close = self._close, None
        if close is not None:
            close()

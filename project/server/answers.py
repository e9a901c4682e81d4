"""What the application answers, as ASGI sends it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from project.server.environ import Environ

Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

# Of a long answer, what one turn of a thread makes at least, and what is handed on at once at most.
PIECE = 96 * 1024


# The service's own headers are few.
@lru_cache(maxsize=256)
def _encoded(name: str) -> bytes:
    return name.lower().encode("latin-1")


class Answer:
    """Status and headers; the content is whole, or made piece by piece by whoever asks for the next one."""

    def __init__(self) -> None:
        self.start: dict[str, Any] = {}
        self.content = b""
        self._pieces: Iterator[bytes] = iter(())
        self._close: Callable[[], None] | None = None
        self.is_whole = True

    def _start_response(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        encoded = [(_encoded(name), value.encode("latin-1")) for name, value in headers]
        self.start = {"type": "http.response.start", "status": int(status[:3]), "headers": encoded}

    @classmethod
    def of(cls, application: Application, environ: Environ) -> Answer:
        """Run the application up to the first piece of a long answer. Raises what it raises."""
        answer = cls()
        response = application(environ, answer._start_response)
        if type(response) is list:
            # All of it, and nothing to clean up.
            answer.content = b"".join(response)
            return answer
        answer._close = getattr(response, "close", None)
        try:
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
        """Make `content` the next piece, small ones put together; `is_whole` says whether it is the last."""
        held: list[bytes] = []
        size = 0
        self.is_whole = False
        while size < PIECE:
            piece = next(self._pieces, None)
            if piece is None:
                self.is_whole = True
                break
            held.append(piece)
            size += len(piece)
        self.content = held[0] if len(held) == 1 else b"".join(held)

    def close(self) -> None:
        """Let the application clean up; more than one call does no harm."""
        close, self._close = self._close, None
        if close is not None:
            close()

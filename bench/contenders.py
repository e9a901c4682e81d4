"""Who runs: an application on a server program."""

from __future__ import annotations

from dataclasses import dataclass

from bench.servers import granian, gunicorn, portico

# The default of our service, and on one core the best setting but for SQLite's writes: docs/performance.md.
THREADS = 4


@dataclass(frozen=True, slots=True)
class Contender:
    """A line of the table.

    `application` is what goals are set against; `endpoints` is how many our service has configured, None for
    another application.
    """

    key: str
    title: str
    application: str
    command: list[str]
    endpoints: int | None = None

    @property
    def is_ours(self) -> bool:
        return self.endpoints is not None

    @property
    def is_bare(self) -> bool:
        return self.application == "bare"


def contenders(threads: int = THREADS) -> list[Contender]:
    """All of them, with so many threads in each WSGI server."""

    def wsgi(target: str) -> list[str]:
        return granian(f"{target}:application", threads=threads)

    service, stock = portico(threads), "bench.applications.stock.wsgi"
    return [
        Contender("bare", "bare WSGI answer", "bare", wsgi("bench.applications.bare")),
        Contender("ours_10", "ours, 10 endpoints", "ours", service, endpoints=10),
        Contender("ours_5000", "ours, 5,000 endpoints", "ours", service, endpoints=5_000),
        Contender("stock", "stock DRF", "stock", wsgi(stock)),
        Contender(
            "stock_gunicorn",
            "stock DRF on gunicorn",
            "stock",
            gunicorn(f"{stock}:application", threads=threads),
        ),
        Contender("plain", "plain Django view", "plain", wsgi("bench.applications.plain.wsgi")),
        Contender(
            "fastapi",
            "FastAPI + SQLAlchemy",
            "fastapi",
            granian("bench.applications.fast.main:application", interface="asgi"),
        ),
    ]

"""Who runs: an application on a server program."""

from __future__ import annotations

from dataclasses import dataclass

from bench.servers import granian, gunicorn

# Measured best on one core: SQLite's calls never leave the process, PostgreSQL's wait for another one.
THREADS = {"sqlite": 1, "postgres": 4}
GUNICORN_THREADS = 4


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


def contenders(database: str, threads: int | None = None) -> list[Contender]:
    """All of them; `threads` replaces what was measured best for granian's WSGI applications."""
    count = threads or THREADS[database]

    def wsgi(target: str) -> list[str]:
        return granian(f"{target}:application", threads=count)

    service, stock = wsgi("project.wsgi"), "bench.applications.stock.wsgi"
    return [
        Contender("bare", "bare WSGI answer", "bare", wsgi("bench.applications.bare")),
        Contender("ours_10", "ours, 10 endpoints", "ours", service, endpoints=10),
        Contender("ours_5000", "ours, 5,000 endpoints", "ours", service, endpoints=5_000),
        Contender("stock", "stock DRF", "stock", wsgi(stock)),
        Contender(
            "stock_gunicorn",
            "stock DRF on gunicorn",
            "stock",
            gunicorn(f"{stock}:application", threads=GUNICORN_THREADS),
        ),
        Contender("plain", "plain Django view", "plain", wsgi("bench.applications.plain.wsgi")),
        Contender(
            "fastapi",
            "FastAPI + SQLAlchemy",
            "fastapi",
            granian("bench.applications.fast.main:application", interface="asgi"),
        ),
    ]

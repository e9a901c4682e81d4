"""Logs as JSON lines on standard error: time, level, logger, event, and the request's id where one is bound.

Bodies, query strings, tokens and passwords are never passed to a logger; objects that come along as extras
(Django adds the request) are dropped rather than printed, since their text form may hold any of these.
"""

from __future__ import annotations

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

PLAIN = (str, int, float, bool, type(None))


def without_objects(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    return {key: value for key, value in event.items() if isinstance(value, PLAIN) or key.startswith("_")}


class JsonFormatter(structlog.stdlib.ProcessorFormatter):
    def __init__(self) -> None:
        before: list[Processor] = [
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            without_objects,
        ]
        super().__init__(
            foreign_pre_chain=before,
            processors=[self.remove_processors_meta, structlog.processors.JSONRenderer()],
        )

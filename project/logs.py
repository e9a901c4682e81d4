"""Logs as JSON lines on standard error: time, level, logger, event, and the request's id where there is one.

No line holds a value that a caller has sent, whatever the level. Our own loggers name what is configured: an
endpoint's key, an attribute, a reason. Of others' lines, which may quote a path, a host or a query, the
wording is kept and what was filled in is left out; of exceptions their types, codes and places. Objects that
come along as extras (Django adds the request) are dropped, since their text form may hold anything.

One thing is the caller's: a plain `X-Request-Id`, which is sent to be found here.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from crmclient.sentences import for_log
from crmclient.tally import current
from runtime.http.request_ids import request_id
from runtime.http.request_record import RequestRecord

PLAIN = (str, int, float, bool, type(None))

# Loggers whose lines hold nothing of a request: our own, called `portico.…` or after their module, and those
# of Granian, which tell of its processes.
_OWN = re.compile(r"(portico|crmclient|crmbox|designer|runtime|project|_granian)(\..*)?")
_CODE_ATTRIBUTES = ("code", "status", "status_code", "sqlstate", "errno")
_CODE = re.compile(r"[A-Za-z0-9_]{1,40}")
_WARNING = re.compile(r"(?P<place>.*?:\d+): (?P<kind>\w+):")
# Exceptions of a chain of causes that a log line shows.
_LONGEST_CHAIN = 10


def drop_objects(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Return the event with plain values, and lists and tables of these. Keys that begin with `_` are
    structlog's own.
    """
    return {key: value for key, value in event.items() if _is_plain(value) or key.startswith("_")}


def _is_plain(value: object) -> bool:
    """Whether a value is plain, or a list or table of plain values."""
    match value:
        case list() | tuple():
            return all(isinstance(one, PLAIN) for one in value)
        case dict():
            return all(isinstance(one, PLAIN) for one in (*value.keys(), *value.values()))
    return isinstance(value, PLAIN)


def add_request_id(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Add the id of the request that the thread works on, if it works on one."""
    record = current.get()
    if isinstance(record, RequestRecord) and record.request is not None:
        event.setdefault("request_id", request_id(record.request))
    return event


def describe_exception(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Replace `exc_info` by the text `exception`: the chain of exceptions, their codes, and where they
    were raised.
    """
    exc_info = event.pop("exc_info", None)
    error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
    if isinstance(error, BaseException):
        event["exception"] = "\n".join(_exception_lines(error))
    return event


def _record_without_values(record: logging.LogRecord) -> logging.LogRecord:
    """Return a record of another library's logger without the values that were filled in."""
    return logging.LogRecord(
        record.name,
        record.levelno,
        record.pathname,
        record.lineno,
        _text_without_values(record),
        None,
        record.exc_info,
        record.funcName,
    )


def _text_without_values(record: logging.LogRecord) -> str:
    """Return the text of another library's line without what was filled in."""
    if record.name == "py.warnings":
        match = _WARNING.match(record.getMessage())
        return f"{match['place']}: {match['kind']}" if match else "a warning"
    if record.args:
        return str(record.msg)
    # A text without arguments may already contain values, as Django's text about a wrong host does.
    return f"{record.module}:{record.lineno}"


def _exception_lines(error: BaseException) -> Iterator[str]:
    """Yield a line for each exception of the chain, and one for each frame where it was raised."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(chain) < _LONGEST_CHAIN:
        chain.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    for link in chain:
        codes = [f"{name}={code}" for name in _CODE_ATTRIBUTES if (code := _code_attribute(link, name))]
        yield " ".join([for_log(link), *codes])
        for frame in traceback.extract_tb(link.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} {frame.name}"


def _code_attribute(error: BaseException, name: str) -> str:
    """Return an error's attribute `name`, such as `sqlstate`; empty unless it is a short code."""
    value: Any = getattr(error, name, None)
    text = str(value) if isinstance(value, int | str) else ""
    return text if _CODE.fullmatch(text) else ""


class WithException(logging.Filter):
    """Passes Django's line about an answer of 500 or more only if it has an exception.

    Without one the line says nothing new: the failure has a line of its own, and the access log has the
    request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return record.exc_info is not None


class JsonFormatter(structlog.stdlib.ProcessorFormatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return the JSON line of a record. Lines of other libraries lose their values."""
        return super().format(record if _OWN.fullmatch(record.name) else _record_without_values(record))

    def __init__(self) -> None:
        steps: list[Processor] = [
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            add_request_id,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            describe_exception,
            drop_objects,
        ]
        super().__init__(
            foreign_pre_chain=steps,
            processors=[self.remove_processors_meta, structlog.processors.JSONRenderer()],
        )

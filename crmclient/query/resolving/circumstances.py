"""The circumstances of a query: the caller, the time, the parameters. They give designed values a value."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from crmclient.errors import InvalidQuery
from crmclient.metadata import PlatformUser, UserReports
from crmclient.query.designed import (
    ClaimValue,
    DesignedValue,
    FetchValue,
    Literal,
    Parameter,
    RecordValue,
    UserValue,
)
from crmclient.sentences import Sentence
from crmclient.text import fits_xml

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The values that the placeholders of a query stand for.

    `now` is aware. `parameters` has every parameter of the query, None for an optional one that is not given.
    `user` is None for a caller without a platform user; `user_values` are the caller's properties, with
    `type` and `roles`, and `claims` are claims of the caller's token by path. `reports` is called for the
    users who report to the user. `fetched` has the row of each data fetcher by the fetcher's name, and
    `record` the record's attributes.
    """

    now: dt.datetime
    parameters: Mapping[str, object] = field(default_factory=dict)
    user: PlatformUser | None = None
    user_values: Mapping[str, object] = field(default_factory=dict)
    claims: Mapping[str, object] = field(default_factory=dict)
    fetched: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)
    reports: Callable[[], UserReports] = UserReports


class Absent(Exception):
    """A parameter is not given. Its condition is left out."""


class Unknown(Exception):
    """A value to compare with is empty or missing. Its condition holds for no row."""


def value_of(value: DesignedValue, circumstances: Circumstances) -> object:
    """Return what stands for `value` in these circumstances.

    Raises Absent for a parameter that is not given, Unknown for another missing value, and InvalidQuery for a
    parameter that does not exist.
    """
    match value:
        case Literal(text):
            return text
        case Parameter(name):
            if name not in circumstances.parameters:
                raise InvalidQuery(Sentence("There is no parameter %(name)s.", name=repr(name)))
            parameter_value = circumstances.parameters[name]
            if parameter_value is None or parameter_value in ((), []):
                raise Absent
            return parameter_value
        case UserValue(name):
            return _not_empty(circumstances.user_values.get(name))
        case ClaimValue(path):
            return _not_empty(circumstances.claims.get(path))
        case FetchValue(fetcher, key):
            return _not_empty(circumstances.fetched.get(fetcher, {}).get(key))
        case RecordValue(attribute):
            return _not_empty(circumstances.record.get(attribute))


def read_value(value: DesignedValue, circumstances: Circumstances, read: Callable[[object], T]) -> T:
    """Return what stands for `value`, converted by `read` to the attribute's type.

    Raises what `value_of` raises, TypeError for a value of another type, and ValueError for a parameter or a
    literal that the attribute cannot have. Such a value of the caller or a fetcher raises Unknown instead,
    and so does a text that a platform may not be asked for: no text in a record may make the endpoint fail. A
    claim raises Unknown for a wrong type, too, because the configuration does not say its type.
    """
    raw = value_of(value, circumstances)
    if not isinstance(value, Literal | Parameter) and not _can_be_asked_for(raw):
        raise Unknown
    try:
        return read(raw)
    except TypeError:
        if isinstance(value, ClaimValue):
            raise Unknown from None
        raise
    except ValueError:
        if isinstance(value, Literal | Parameter):
            raise
        raise Unknown from None


def _can_be_asked_for(value: object) -> bool:
    """Whether every platform takes the value in a query, or each item of a list."""
    items = value if isinstance(value, tuple | list) else (value,)
    return all(fits_xml(item) for item in items if isinstance(item, str))


def _not_empty(value: object) -> object:
    """Return `value`. Raises Unknown for None and for an empty list or tuple."""
    if value is None or value in ((), []):
        raise Unknown
    return value


def user_of(circumstances: Circumstances) -> PlatformUser:
    """Return the caller's platform user. Raises Unknown for a caller without one."""
    if circumstances.user is None:
        raise Unknown
    return circumstances.user

"""Who asks, when, and with which parameters; and what a designed value is then."""

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

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """`now` is aware. `parameters` has every parameter of the query, None for an optional one that is not
    given. `user` is None for a caller without a platform user; `user_values` are the caller's properties,
    with `type` and `roles`, and `claims` those of its token by the paths that are asked for.
    `reports` tells, when it is asked, who reports to the user.
    `fetched` has the row of each data fetcher by the fetcher's name, and `record` the record's attributes.
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
    """An optional parameter is not given: its condition is left out."""


class Unknown(Exception):
    """What a condition compares with is empty or not there: it holds for no row."""


def value_of(value: DesignedValue, circumstances: Circumstances) -> object:
    """Raises Absent, Unknown, and InvalidQuery for a parameter that the circumstances know nothing of."""
    match value:
        case Literal(text):
            return text
        case Parameter(name):
            if name not in circumstances.parameters:
                raise InvalidQuery(Sentence("There is no parameter %(name)s.", name=repr(name)))
            given = circumstances.parameters[name]
            if given is None or given in ((), []):
                raise Absent
            return given
        case UserValue(name):
            return _known(circumstances.user_values.get(name))
        case ClaimValue(path):
            return _known(circumstances.claims.get(path))
        case FetchValue(fetcher, key):
            return _known(circumstances.fetched.get(fetcher, {}).get(key))
        case RecordValue(attribute):
            return _known(circumstances.record.get(attribute))


def read_value(value: DesignedValue, circumstances: Circumstances, read: Callable[[object], T]) -> T:
    """What is given for `value`, as `read` makes it of the attribute's type.

    Raises Absent, Unknown, TypeError where the type is another, and ValueError for a parameter or a literal
    that the attribute cannot have. Of the caller or of a fetcher such a value is Unknown: no text of a record
    must make the endpoint fail. Of a claim that holds for its type, too: the configuration does not say it.
    """
    given = value_of(value, circumstances)
    try:
        return read(given)
    except TypeError:
        if isinstance(value, ClaimValue):
            raise Unknown from None
        raise
    except ValueError:
        if isinstance(value, Literal | Parameter):
            raise
        raise Unknown from None


def _known(value: object) -> object:
    if value is None or value in ((), []):
        raise Unknown
    return value


def user_of(circumstances: Circumstances) -> PlatformUser:
    if circumstances.user is None:
        raise Unknown
    return circumstances.user

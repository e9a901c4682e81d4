"""Who asks, when, and with which parameters; and what a designed value is then."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from crmclient.errors import InvalidQuery
from crmclient.metadata import PlatformUser
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


@dataclass(frozen=True, slots=True)
class Circumstances:
    """`now` is aware. `parameters` has every parameter of the query, None for an optional one that is not
    given. `user` is None for a caller without a platform user; `user_values` are the caller's properties,
    with `type` and `roles`, and `claims` those of its token by the paths that are asked for.
    `fetched` has the row of each data fetcher by the fetcher's name, and `record` the record's attributes.
    """

    now: dt.datetime
    parameters: Mapping[str, object] = field(default_factory=dict)
    user: PlatformUser | None = None
    user_values: Mapping[str, object] = field(default_factory=dict)
    claims: Mapping[str, object] = field(default_factory=dict)
    fetched: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    record: Mapping[str, object] = field(default_factory=dict)


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


def _known(value: object) -> object:
    if value is None or value in ((), []):
        raise Unknown
    return value


def user_of(circumstances: Circumstances) -> PlatformUser:
    if circumstances.user is None:
        raise Unknown
    return circumstances.user

"""Who asks, when, and with which parameters; and what a designed value is then."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from crmclient.errors import InvalidQuery
from crmclient.metadata import PlatformUser
from crmclient.query.designed import Literal, Parameter, UserValue


@dataclass(frozen=True, slots=True)
class Circumstances:
    """`now` is aware. `parameters` has every parameter of the query, None for an optional one that is not
    given. `user` is None for a caller without a platform user; `user_values` are the caller's properties.
    """

    now: dt.datetime
    parameters: Mapping[str, object] = field(default_factory=dict)
    user: PlatformUser | None = None
    user_values: Mapping[str, object] = field(default_factory=dict)


class Absent(Exception):
    """An optional parameter is not given: its condition is left out."""


class Unknown(Exception):
    """The caller lacks what a condition compares with: it holds for no row."""


def value_of(value: Literal | Parameter | UserValue, circumstances: Circumstances) -> object:
    """Raises Absent, Unknown, and InvalidQuery for a parameter that the circumstances know nothing of."""
    match value:
        case Literal(text):
            return text
        case Parameter(name):
            if name not in circumstances.parameters:
                raise InvalidQuery(f"There is no parameter {name!r}.")
            given = circumstances.parameters[name]
            if given is None or given in ((), []):
                raise Absent
            return given
        case UserValue(name):
            own = circumstances.user_values.get(name)
            if own is None or own in ((), []):
                raise Unknown
            return own


def user_of(circumstances: Circumstances) -> PlatformUser:
    if circumstances.user is None:
        raise Unknown
    return circumstances.user

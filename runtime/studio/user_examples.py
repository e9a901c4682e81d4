"""What a user property is for one user: the same that their callers would find, or why there is nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from crmclient import Guid
from crmclient.errors import PlatformError
from designer.calendar import present
from designer.definitions import UserPropertyDefinition
from designer.expressions import Expression, ExpressionError
from designer.loading import latest
from designer.names import USER_TYPE
from designer.platform import get_platform
from designer.ports import NO_CLAIMS, UserExample
from designer.sentences import said
from runtime.callers.caller import Caller, around
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.studio.readable import readable
from runtime.studio.tried_calls import ISSUER

_CUSTOM = "custom"


def user_example(
    properties: Sequence[UserPropertyDefinition],
    name: str,
    user: Guid,
    roles: Collection[str],
    type: str = USER_TYPE,
    claims: Mapping[str, Any] = NO_CLAIMS,
) -> UserExample:
    """The property `name` of `properties`, which need not be saved, of a caller of `type` with `roles`, and
    with `claims` in the token.
    """
    wanted = next(known for known in properties if known.name == name and known.caller_type == type)
    # Expressions see those that are read, and not each other.
    read = [known for known in properties if known.kind != _CUSTOM]
    platform = get_platform()
    context = UserContext(read, platform, caller_types=latest().caller_types)
    if wanted.key in context.broken:
        return UserExample(problem=said(context.broken[wanted.key]))
    try:
        caller = Caller(
            issuer=ISSUER,
            subject=user,
            roles=frozenset(roles),
            type=type,
            record=user or None,
            profile=platform.user(user) if type == USER_TYPE else None,
            claims=claims,
        )
        values = context.values(caller)
        if wanted.kind == _CUSTOM:
            seen = {"user": around(caller, values)}
            value = Expression(wanted.expression, names=("user",)).evaluate(seen, present())
        else:
            value = values[name]
    except Problem as problem:
        return UserExample(problem=problem.sentence)
    except (ExpressionError, Misconfigured, PlatformError) as error:
        return UserExample(problem=said(str(error)))
    return UserExample(value="null" if value is None else readable(value))

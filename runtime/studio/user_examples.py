"""What a user property is for one user: the same that their callers would find, or why there is nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from crmclient import Guid
from crmclient.errors import PlatformError
from designer.calendar import present
from designer.definitions import UserPropertyDefinition
from designer.expressions import Expression, ExpressionError
from designer.platform import get_platform
from designer.ports import UserExample
from designer.sentences import said
from runtime.callers.caller import Caller, surroundings
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.studio.readable import readable
from runtime.studio.tried_calls import ISSUER

_CUSTOM = "custom"


def user_example(
    properties: Sequence[UserPropertyDefinition], name: str, user: Guid, roles: Collection[str]
) -> UserExample:
    """The property `name` of `properties`, which need not be saved, of a caller with `roles`."""
    wanted = next(known for known in properties if known.name == name)
    # Expressions see those that are read, and not each other.
    read = [known for known in properties if known.kind != _CUSTOM]
    platform = get_platform()
    context = UserContext(read, platform)
    if name in context.broken:
        return UserExample(problem=said(context.broken[name]))
    try:
        caller = Caller(
            issuer=ISSUER,
            subject=user,
            roles=frozenset(roles),
            platform_user=user,
            profile=platform.user(user),
        )
        values = context.values(caller)
        if wanted.kind == _CUSTOM:
            seen = {"user": surroundings(caller) | dict(values)}
            value = Expression(wanted.expression, names=("user",)).evaluate(seen, present())
        else:
            value = values[name]
    except Problem as problem:
        return UserExample(problem=problem.sentence)
    except (ExpressionError, Misconfigured, PlatformError) as error:
        return UserExample(problem=said(str(error)))
    return UserExample(value="null" if value is None else readable(value))

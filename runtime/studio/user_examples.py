"""Shows the value of a user property for one user, or why there is no value."""

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
from designer.platform_failures import failure_words
from designer.ports import NO_CLAIMS, UserExample
from designer.sentences import said
from runtime.callers.caller import Caller, fields_of_user
from runtime.context import UserContext
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.studio.json_text import readable
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
    """Return the value that the property `name` has for a caller, or the problem that keeps it from having
    one.

    `properties` are the user properties that expressions may read; they need not be saved. The caller is of
    `type`, has `roles`, stands for the record `user` and has `claims` in the token.
    """
    user_property = next(
        definition for definition in properties if definition.name == name and definition.caller_type == type
    )
    # Expressions see the properties that are read from the platform, and not each other.
    properties_read = [definition for definition in properties if definition.kind != _CUSTOM]
    platform = get_platform()
    context = UserContext(properties_read, platform, caller_types=latest().caller_types)
    if user_property.key in context.broken:
        return UserExample(problem=said(context.broken[user_property.key]))
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
        if user_property.kind == _CUSTOM:
            names = {"user": fields_of_user(caller, values)}
            value = Expression(user_property.expression, names=("user",)).evaluate(names, present())
        else:
            value = values[name]
    except Problem as problem:
        return UserExample(problem=problem.sentence)
    except PlatformError as error:
        return UserExample(problem=failure_words(error))
    except (ExpressionError, Misconfigured) as error:
        return UserExample(problem=said(str(error)))
    return UserExample(value="null" if value is None else readable(value))

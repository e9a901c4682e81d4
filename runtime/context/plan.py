"""The user properties of a configuration, compiled once and read for each caller."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from crmclient import SERVICE_CALL, Call, Guid, Platform, Value
from crmclient.errors import MetadataError, MissingPrivilege
from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from designer.calendar import present
from designer.definitions import UserPropertyDefinition
from designer.expressions import Expression, ExpressionError
from designer.names import output_key
from designer.sentences import Sentence
from runtime.callers.cache import RecentCache
from runtime.callers.caller import Caller
from runtime.callers.refusals import authentication_required, no_platform_user
from runtime.context.related import USER, USER_ID, Related, related
from runtime.context.values import plain, plain_schema
from runtime.http.failures import Misconfigured

logger = logging.getLogger("portico.context")

DISABLED = "isdisabled"


class UserContext:
    """What is configured of users, ready to be read: the record and what it points at in one query, and one
    more for each property that holds an array.

    `broken` names the properties that this platform cannot serve, each with the reason; the others work.
    """

    def __init__(self, properties: Sequence[UserPropertyDefinition], platform: Platform) -> None:
        self._platform = platform
        self._properties = tuple(properties)
        self._names = tuple(defined.name for defined in properties)
        self._fields: dict[str, str] = {}
        self._related: dict[str, Related] = {}
        self._custom: dict[str, Expression] = {}
        self._recent: RecentCache[tuple[str, str, Guid], Mapping[str, Any]] = RecentCache(size=10_000)
        self.broken: dict[str, str] = {}
        for defined in properties:
            try:
                _COMPILERS[defined.kind](self, defined)
            except (Misconfigured, ExpressionError, MetadataError, MissingPrivilege) as error:
                self.broken[defined.name] = str(error)

    def answer(self, caller: Caller, call: Call = SERVICE_CALL) -> dict[str, Any]:
        """The body of `GET /api/context`, read now. Raises Problem 401, 403 `no_platform_user`, and
        Misconfigured when a property is broken.
        """
        if self.broken:
            raise Misconfigured(f"user properties cannot be served: {self.broken}")
        values = self._read(caller, call)
        return {"user": {output_key(name): values[name] for name in self._names}}

    def values(self, caller: Caller, call: Call = SERVICE_CALL) -> Mapping[str, Any]:
        """The properties by their configured names, at most a minute old; broken ones are absent.

        Raises Problem 401 for an anonymous caller, 403 `no_platform_user`.
        """
        key = (caller.issuer, caller.subject, caller.platform_user or "")
        return self._recent.get(key) or self._read(caller, call)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of `answer`; nothing is known of what a custom property gives."""
        properties = {output_key(defined.name): self._describe(defined) for defined in self._properties}
        user = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        return {
            "type": "object",
            "properties": {"user": user},
            "required": ["user"],
            "additionalProperties": False,
        }

    def _describe(self, defined: UserPropertyDefinition) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        if defined.name in self._fields:
            schema = plain_schema(self._platform.attributes(USER)[self._fields[defined.name]])
        elif defined.name in self._related:
            schema = self._related[defined.name].schema()
        return {**schema, "description": defined.description} if defined.description else schema

    def _read(self, caller: Caller, call: Call) -> Mapping[str, Any]:
        call = replace(call, about_caller=True)
        row = self._record(caller, call)
        known = self._platform.attributes(USER) if self._fields else {}
        values: dict[str, Any] = {name: plain(row[own], known[own]) for name, own in self._fields.items()}
        for name, data in self._related.items():
            values[name] = data.read(self._platform, row, call)
        if self._custom:
            user = surroundings(caller) | values
            values |= {name: _evaluate(name, custom, user) for name, custom in self._custom.items()}
        self._recent.put((caller.issuer, caller.subject, caller.platform_user or ""), values)
        return values

    def _record(self, caller: Caller, call: Call) -> Mapping[str, Value]:
        if caller.is_anonymous:
            raise authentication_required()
        if caller.platform_user is None:
            raise no_platform_user(caller.issuer, "Your account stands for no user on the platform.")
        rows = self._platform.query(self._query(caller.platform_user), Page(size=1), call=call).rows
        if not rows or rows[0][DISABLED]:
            raise no_platform_user(
                caller.issuer, "Your user on the platform is disabled or no longer exists.", "user_disabled"
            )
        return rows[0]

    def _query(self, user: Guid) -> Query:
        columns = dict.fromkeys((USER_ID, DISABLED, *self._fields.values()))
        return Query(
            entity=USER,
            columns=tuple(Column(attribute) for attribute in columns),
            filter=Filter((Condition(USER_ID, Operator.EQ, (user,)),)),
            links=tuple(data.link for data in self._related.values() if data.link is not None),
        )

    def _compile_field(self, defined: UserPropertyDefinition) -> None:
        if defined.attribute not in self._platform.attributes(USER):
            raise Misconfigured(
                Sentence(
                    "%(entity)s has no attribute %(name)s", entity="systemuser", name=repr(defined.attribute)
                )
            )
        self._fields[defined.name] = defined.attribute

    def _compile_related(self, defined: UserPropertyDefinition) -> None:
        alias = f"r{len(self._related)}"
        self._related[defined.name] = related(defined.relationship, defined.columns, self._platform, alias)

    def _compile_custom(self, defined: UserPropertyDefinition) -> None:
        self._custom[defined.name] = Expression(defined.expression, names=("user",))


_Compiler: TypeAlias = Callable[[UserContext, UserPropertyDefinition], None]
_COMPILERS: Mapping[str, _Compiler] = {
    "field": UserContext._compile_field,
    "related": UserContext._compile_related,
    "custom": UserContext._compile_custom,
}


def surroundings(caller: Caller) -> dict[str, Any]:
    """What expressions see of `user` beside the configured properties."""
    profile = caller.profile
    teams = zip(profile.team_ids, profile.team_names, strict=True) if profile else ()
    return {
        "id": caller.platform_user,
        "roles": sorted(caller.roles),
        "teams": [{"id": id, "name": name} for id, name in teams],
    }


def _evaluate(name: str, expression: Expression, user: Mapping[str, Any]) -> Any:
    try:
        return expression.evaluate({"user": user}, present())
    except ExpressionError as error:
        # Null, as for an empty column: one user without a manager must not lose the whole context.
        logger.warning("user property %s has no value: %s", name, error)
        return None

"""The user properties of a configuration, compiled once and read for each caller."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from crmclient import SERVICE_CALL, Call, Guid, Platform, Reference, Value
from crmclient.conventions import Users
from crmclient.errors import MetadataError, MissingPrivilege
from crmclient.query.ast import Column, Condition, Filter, Operator, Page, Query
from crmclient.sentences import for_log
from designer.calendar import present
from designer.definitions import UserPropertyDefinition
from designer.expressions import Expression, ExpressionError
from designer.names import output_key
from designer.sentences import Sentence
from runtime.callers.caller import Caller, surroundings
from runtime.callers.minute_cache import MinuteCache
from runtime.callers.refusals import authentication_required, no_platform_user
from runtime.context.related import Related, plain, plain_schema, related
from runtime.http.failures import Misconfigured

logger = logging.getLogger("portico.context")


class _Known(NamedTuple):
    """What was read of a caller: every property, and the entities of those that name a record."""

    values: Mapping[str, Any]
    entities: Mapping[str, str]


# One for all configurations: the key says which, and what an edit has ended is soon crowded out.
_REMEMBERED: MinuteCache[_Known | None] = MinuteCache(
    "context",
    pack=lambda known: None if known is None else [known.values, known.entities],
    unpack=lambda packed: None if packed is None else _Known(*packed),
)


def forget() -> None:
    """Read every caller's properties anew."""
    _REMEMBERED.clear()


class UserContext:
    """What is configured of users, ready to be read: the record and what it points at in one query, and one
    more for each property that holds an array.

    With `remembered_under`, the metadata's revision, it is read once a minute for each caller; without, as
    for what the studio tries, each time. The caller's own writes to what it reads show within that minute,
    too: to know them all the platform would have to be asked. Other properties or metadata are remembered
    apart.

    `broken` names the properties that this platform cannot serve, each with the reason; the others work.
    """

    def __init__(
        self,
        properties: Sequence[UserPropertyDefinition],
        platform: Platform,
        *,
        remembered_under: str | None = None,
    ) -> None:
        self._platform = platform
        self._users = platform.conventions.users
        self._properties = tuple(properties)
        self._names = tuple(defined.name for defined in properties)
        self._fields: dict[str, str] = {}
        self._related: dict[str, Related] = {}
        self._custom: dict[str, Expression] = {}
        self._revision = (
            None if remembered_under is None else (remembered_under, *map(repr, self._properties))
        )
        self.broken: dict[str, str] = {}
        for defined in properties:
            try:
                _COMPILERS[defined.kind](self, defined)
            except (Misconfigured, ExpressionError, MetadataError, MissingPrivilege) as error:
                self.broken[defined.name] = str(error)

    def answer(self, caller: Caller, call: Call = SERVICE_CALL) -> dict[str, Any]:
        """The body of `GET /api/context`. Raises Problem 401, 403 `no_platform_user`, and Misconfigured when
        a property is broken.
        """
        if self.broken:
            raise Misconfigured(f"user properties cannot be served: {self.broken}")
        values = self.values(caller, call)
        return {"user": {output_key(name): values[name] for name in self._names}}

    def values(self, caller: Caller, call: Call = SERVICE_CALL) -> Mapping[str, Any]:
        """The properties by their configured names, at most a minute old; broken ones are absent.

        Raises Problem 401 for an anonymous caller, 403 `no_platform_user`.
        """
        return self._known(caller, call).values

    def references(self, caller: Caller, call: Call = SERVICE_CALL) -> Mapping[str, Reference]:
        """Those of the properties that name a record, with the record's entity. Raises as `values`."""
        known = self._known(caller, call)
        return {name: Reference(entity, known.values[name]) for name, entity in known.entities.items()}

    def reference(self, user: Guid) -> Reference:
        """The record of a platform user. Raises Misconfigured where the platform has no users."""
        return Reference(self._require_users().entity, user)

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
            attributes = self._platform.attributes(self._require_users().entity)
            schema = plain_schema(attributes[self._fields[defined.name]])
        elif defined.name in self._related:
            schema = self._related[defined.name].schema()
        return {**schema, "description": defined.description} if defined.description else schema

    def _known(self, caller: Caller, call: Call) -> _Known:
        user = caller.platform_user
        if caller.is_anonymous:
            raise authentication_required()
        if user is None or self._users is None:
            raise no_platform_user(caller.issuer, "Your account stands for no user on the platform.")
        if self._revision is None:
            known = self._read(caller, user, self._users, call)
        else:
            users = self._users
            key = (caller.issuer, caller.subject, user, ",".join(sorted(caller.roles)), *self._revision)
            # Expressions see the caller's teams: what was made of them is no younger than they are.
            until = caller.known_until if self._custom else math.inf
            known = _REMEMBERED.get(key, lambda: self._read(caller, user, users, call), until=until).value
        if known is None:
            raise no_platform_user(
                caller.issuer, "Your user on the platform is disabled or no longer exists.", "user_disabled"
            )
        return known

    def _read(self, caller: Caller, user: Guid, users: Users, call: Call) -> _Known | None:
        """None for a user that is disabled or gone, which is remembered like any other answer."""
        call = replace(call, about_caller=True)
        rows = self._platform.query(self._query(user, users), Page(size=1), call=call).rows
        if not rows or (users.disabled is not None and rows[0][users.disabled]):
            return None
        row = rows[0]
        known = self._platform.attributes(users.entity) if self._fields else {}
        values: dict[str, Any] = {name: plain(row[own], known[own]) for name, own in self._fields.items()}
        for name, data in self._related.items():
            values[name] = data.read(self._platform, row, call)
        if self._custom:
            seen = surroundings(caller) | values
            values |= {name: _evaluate(name, custom, seen) for name, custom in self._custom.items()}
        entities = {name: _entity(own, row[own], users) for name, own in self._fields.items()}
        return _Known(values, {name: entity for name, entity in entities.items() if entity is not None})

    def _query(self, user: Guid, users: Users) -> Query:
        columns = dict.fromkeys((users.id, users.disabled, *self._fields.values()))
        return Query(
            entity=users.entity,
            columns=tuple(Column(attribute) for attribute in columns if attribute is not None),
            filter=Filter((Condition(users.id, Operator.EQ, (user,)),)),
            links=tuple(data.link for data in self._related.values() if data.link is not None),
        )

    def _require_users(self) -> Users:
        if self._users is None:
            raise Misconfigured(Sentence("the platform has no users"))
        return self._users

    def _compile_field(self, defined: UserPropertyDefinition) -> None:
        entity = self._require_users().entity
        if defined.attribute not in self._platform.attributes(entity):
            raise Misconfigured(
                Sentence("%(entity)s has no attribute %(name)s", entity=entity, name=repr(defined.attribute))
            )
        self._fields[defined.name] = defined.attribute

    def _compile_related(self, defined: UserPropertyDefinition) -> None:
        alias = f"r{len(self._related)}"
        users = self._require_users()
        self._related[defined.name] = related(
            defined.relationship, defined.columns, users, self._platform, alias
        )

    def _compile_custom(self, defined: UserPropertyDefinition) -> None:
        self._require_users()
        self._custom[defined.name] = Expression(defined.expression, names=("user",))


_Compiler: TypeAlias = Callable[[UserContext, UserPropertyDefinition], None]
_COMPILERS: Mapping[str, _Compiler] = {
    "field": UserContext._compile_field,
    "related": UserContext._compile_related,
    "custom": UserContext._compile_custom,
}


def _entity(attribute: str, value: Value, users: Users) -> str | None:
    """The entity of the record that a value of the user's record names: itself, or what a lookup names."""
    if attribute == users.id:
        return users.entity
    return value.entity if isinstance(value, Reference) else None


def _evaluate(name: str, expression: Expression, user: Mapping[str, Any]) -> Any:
    try:
        return expression.evaluate({"user": user}, present())
    except ExpressionError as error:
        # Null, as for an empty column: one user without a manager must not lose the whole context.
        logger.warning("user property %s has no value: %s", name, for_log(error))
        return None

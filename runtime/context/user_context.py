"""The user properties of a configuration, by the type of caller that they are of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from crmclient import SERVICE_CALL, Call, Guid, Platform, Reference
from crmclient.query.ast import Query
from designer.definitions import CALLER_TYPES, CallerTypeDefinition, UserPropertyDefinition
from designer.names import USER_TYPE, property_key
from designer.sentences import Sentence
from runtime.callers.caller import Caller
from runtime.callers.minute_cache import MinuteCache
from runtime.callers.refusals import authentication_required, no_record
from runtime.context.caller_properties import CallerProperties, PropertyValues
from runtime.http.failures import Misconfigured

# One cache for all configurations: the key names the revision, and entries of earlier ones are soon crowded
# out.
_PROPERTIES: MinuteCache[PropertyValues | None] = MinuteCache(
    "context",
    pack=lambda properties: None if properties is None else [properties.values, properties.entities],
    unpack=lambda packed: None if packed is None else PropertyValues(*packed),
)


def forget() -> None:
    """Read every caller's properties anew."""
    _PROPERTIES.clear()


class UserContext:
    """What is configured of callers, ready to be read.

    With `remembered_under`, the metadata's revision, it is read once a minute for each caller; without, as
    for what the studio tries, each time. The caller's own writes to what it reads show within that minute,
    too: to know them all the platform would have to be asked. Other properties or metadata are remembered
    apart.

    `broken` has the properties that this platform cannot serve, by `property_key` with the reason; the others
    work.
    """

    def __init__(
        self,
        properties: Sequence[UserPropertyDefinition],
        platform: Platform,
        *,
        caller_types: Sequence[CallerTypeDefinition] = CALLER_TYPES,
        remembered_under: str | None = None,
    ) -> None:
        self._types = {
            type.name: CallerProperties(
                type, [defined for defined in properties if defined.caller_type == type.name], platform
            )
            for type in caller_types
        }
        self._revision = None if remembered_under is None else (remembered_under, *map(repr, properties))
        self.broken: dict[str, str] = {
            property_key(name, broken): reason
            for name, properties_of_type in self._types.items()
            for broken, reason in properties_of_type.broken.items()
        }

    def answer(self, caller: Caller, call: Call = SERVICE_CALL) -> dict[str, Any]:
        """Return the body of `GET /api/context`: the properties of the caller's type.

        Raises Problem 401, 403 `no_platform_user` or `no_record`, MissingPrivilege when a property cannot be
        read for want of one, and Misconfigured when a property is broken otherwise.
        """
        properties_of_type = self._properties_of_type(caller)
        broken = {
            name: reason
            for name, reason in properties_of_type.broken.items()
            if name in properties_of_type.answered
        }
        if properties_of_type.missing_privilege is not None:
            # Without the frames of whoever was told before.
            raise properties_of_type.missing_privilege.with_traceback(None)
        if broken:
            raise Misconfigured(f"user properties cannot be served: {broken}")
        values = self.values(caller, call)
        return {"user": {key: values[name] for name, key in properties_of_type.answered.items()}}

    def values(self, caller: Caller, call: Call = SERVICE_CALL) -> Mapping[str, Any]:
        """Return the user properties of the caller by name, at most a minute old.

        Properties that do not work are left out. Raises Problem 401 for an anonymous caller; 403 for a caller
        without a record, if the caller's type has records.
        """
        return self._values_and_entities(caller, call).values

    def last_known(self, caller: Caller) -> Mapping[str, Any] | None:
        """Return the properties that the caller had in the last quarter of an hour, for an answer that was
        made then; None where this process does not know them.
        """
        properties_of_type = self._types.get(caller.type)
        if properties_of_type is None or self._revision is None:
            return None
        last = _PROPERTIES.last_known((*_key(properties_of_type, caller), *self._revision))
        return None if last is None or last.value is None else last.value.values

    def references(self, caller: Caller, call: Call = SERVICE_CALL) -> Mapping[str, Reference]:
        """Return the properties whose value is a record's id, with the record's entity.

        Raises as `values`.
        """
        properties = self._values_and_entities(caller, call)
        return {
            name: Reference(entity, properties.values[name]) for name, entity in properties.entities.items()
        }

    def reference(self, caller: Caller) -> Reference:
        """Return a reference to the caller's own record. Raises Misconfigured when the caller has none."""
        records = self._properties_of_type(caller).records
        if records is None or caller.record is None:
            raise Misconfigured(Sentence("callers of the type %(type)s have no record", type=caller.type))
        return Reference(records.entity, caller.record)

    def query(self, type: str, record: Guid) -> Query | None:
        """Return the query that reads the record of a caller of this type; None when such callers have no
        record.
        """
        properties_of_type = self._types.get(type)
        return None if properties_of_type is None else properties_of_type.query(record)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of `answer`.

        When other types than `user` have properties, it is a choice of one schema for each type, titled by
        the type.
        """
        described = [
            properties_of_type
            for name, properties_of_type in self._types.items()
            if properties_of_type.answered and name != USER_TYPE
        ]
        users = self._types.get(USER_TYPE)
        of_users = users.schema() if users else {"type": "object"}
        if not described:
            return _schema_of_body(of_users)
        return _schema_of_body(
            {
                "anyOf": [
                    {"title": _title(USER_TYPE), **of_users},
                    *(
                        {"title": _title(properties_of_type.type.name), **properties_of_type.schema()}
                        for properties_of_type in described
                    ),
                ]
            }
        )

    def _properties_of_type(self, caller: Caller) -> CallerProperties:
        """Return the properties of the caller's type. Raises Problem 401 for an anonymous caller."""
        if caller.is_anonymous:
            raise authentication_required()
        return self._types[caller.type]

    def _values_and_entities(self, caller: Caller, call: Call) -> PropertyValues:
        """Return the properties of a caller. Raises Problem 401 for an anonymous caller, and 403 for a caller
        whose record is missing.
        """
        properties_of_type = self._properties_of_type(caller)
        record = _record(properties_of_type, caller)
        if properties_of_type.has_records and record is None:
            noun = "user" if properties_of_type.type.is_of_users else "record"
            raise no_record(
                caller.type,
                caller.issuer,
                f"Your account stands for no {noun} on the platform.",
                _REASONS_WITHOUT_RECORD[noun],
            )
        properties = self._cached_or_read(
            properties_of_type, caller, record, replace(call, about_caller=True)
        )
        if properties is None:
            noun = "user" if properties_of_type.type.is_of_users else "record"
            detail = {
                "user": "Your user on the platform is disabled or no longer exists.",
                "record": "Your record on the platform is inactive or no longer exists.",
            }[noun]
            raise no_record(caller.type, caller.issuer, detail, _REASONS_FOR_GONE[noun])
        return properties

    def _cached_or_read(
        self, properties_of_type: CallerProperties, caller: Caller, record: Guid | None, call: Call
    ) -> PropertyValues | None:
        """Return the properties of a caller, from the cache if the context has a revision to keep them under;
        None when the record is gone or inactive.
        """
        if self._revision is None:
            return properties_of_type.read(caller, record, call)
        # What expressions make of the caller's teams, and what is made of a row that was read before, must
        # not be kept for longer than these are.
        until = (
            caller.known_until
            if properties_of_type.has_custom or caller.record_read is not None
            else math.inf
        )
        return _PROPERTIES.get(
            (*_key(properties_of_type, caller), *self._revision),
            lambda: properties_of_type.read(caller, record, call),
            until=until,
            # Row rules compare with properties, also those of writes: an old one might allow too much.
            old_counts=False,
        ).value


def _record(properties_of_type: CallerProperties, caller: Caller) -> Guid | None:
    """Return the caller's record; None where callers of the type have none on this platform."""
    return caller.record if properties_of_type.records is not None else None


def _key(properties_of_type: CallerProperties, caller: Caller) -> tuple[str, ...]:
    """Return what the properties of a caller depend on, apart from the configuration."""
    key = (
        caller.issuer,
        caller.subject,
        caller.type,
        _record(properties_of_type, caller) or "",
        ",".join(sorted(caller.roles)),
    )
    if not (properties_of_type.has_custom and caller.claims):
        return key
    # Expressions see claims.
    return (*key, orjson.dumps(dict(caller.claims), option=orjson.OPT_SORT_KEYS).decode())


# The reasons in the log for a caller without a record, and for a caller whose record is gone or inactive: for
# platform users, and for other callers.
_REASONS_WITHOUT_RECORD = {"user": "no_platform_user", "record": "no_record"}
_REASONS_FOR_GONE = {"user": "user_disabled", "record": "record_inactive"}


def _schema_of_body(schema_of_user: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of the answer's body, whose only member `user` has `schema_of_user`."""
    return {
        "type": "object",
        "properties": {"user": schema_of_user},
        "required": ["user"],
        "additionalProperties": False,
    }


def _title(caller_type: str) -> str:
    """Return the title of a type's schema.

    It must not be the name of an entity: client generators make classes of titles, and would confuse the two.
    """
    return f"Context of {caller_type}"

"""Upsert: `PUT /api/{module}/{endpoint}/keys/{name}/{value}` → 200 `{"id", "created"}` + `ETag`.

The record that has the key is changed, as by an update; where there is none, one is created. Under a row rule
the record is looked for first: one that the caller does not reach is unknown to them, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_noop

from crmclient import Platform, Upserted, Value
from crmclient.alternate_keys import key_text
from crmclient.errors import DuplicateKey, InvalidRecord, RecordNotFound, StateConflict, VersionMismatch
from designer.configuration import Endpoint
from designer.kinds.duplicates import DuplicateSettings
from designer.kinds.versions import VersionSettings
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.http.if_match import Versions, WantedVersions
from runtime.http.problems import Problem
from runtime.http.rendering import json_response
from runtime.operations import payload
from runtime.operations.base import Description, Operation
from runtime.operations.duplicates import Duplicates
from runtime.operations.message_language import language_parameter
from runtime.operations.payload import Payload
from runtime.request_context import Exchange
from runtime.steps import Steps
from runtime.steps.create_guards import CreateGuards
from runtime.steps.keyed_records import KeyedRecords
from runtime.steps.lookup_guard import LookupGuard
from runtime.steps.move_guards import MoveGuard
from runtime.steps.rules import rule_of_record
from runtime.values.inputs import Sent
from runtime.values.key_values import INVALID_KEY, KeyInPath

# How often a write is tried on a record that others change, make or delete at the same moment.
_ATTEMPTS: Final = 3
_IF_NONE_MATCH: Final[dict[str, Any]] = {
    "name": "If-None-Match",
    "in": "header",
    "description": gettext_noop(
        "`*`: a record is created, and none is changed. Where one has the key, the answer is 412."
    ),
    "schema": {"const": "*"},
}
_IF_MATCH: Final = gettext_noop(
    "The ETag of the version that is meant, or `*` for any. Nothing is created: 404 where no record has the "
    "key."
)


class _Conditions(NamedTuple):
    """What the caller's If-Match and If-None-Match require.

    `exists`: the record must exist (True), must not exist (False), or either (None). `versions` are those
    that it may have; None for any.
    """

    exists: bool | None
    versions: WantedVersions


class UpsertOperation(Operation):
    kind: ClassVar[str] = "upsert"

    def __init__(self, endpoint: Endpoint, platform: Platform) -> None:
        super().__init__(endpoint, platform)
        entity = self.entity = self.require_entity()
        attributes = platform.attributes(entity)
        self.key = KeyInPath(endpoint, entity, platform)
        # An input that is left out keeps the value of an existing record, so it has no default.
        self.payload = Payload(endpoint.without_defaults(), entity, attributes, platform)
        if repeated := self.payload.written.intersection(self.key.attributes):
            raise Misconfigured(Sentence("%(attribute)s is part of the key", attribute=min(repeated)))
        self._key_lookups = LookupGuard(
            endpoint, entity, [attributes[name] for name in self.key.attributes], platform
        )
        self._rule = rule_of_record(endpoint, platform)
        self._create_guards = CreateGuards(endpoint, platform, {})
        self._move_guard = MoveGuard(self._rule, self.payload.written, platform)
        rule_fetchers = self._rule.needs.fetchers if self._rule else frozenset()
        self.steps = Steps(endpoint, platform, fetched=rule_fetchers | self._create_guards.fetchers)
        self._version = platform.conventions.version_of(entity, attributes)
        self._duplicates = Duplicates(self.settings(DuplicateSettings))
        self._versions = Versions(self._version, VersionSettings())
        self._records = KeyedRecords(entity, self._move_guard.reads, self._version, platform)

    def run(self, exchange: Exchange) -> HttpResponse:
        """Change the record with the key in the path, or create it. Answer its id and whether it is new."""
        key = self.key.read(exchange.record)
        sent = self.payload.receive(exchange)
        conditions = self._conditions(exchange.request)
        self.steps.run(exchange)
        try:
            stored = self._store(key, sent, conditions, exchange)
        except InvalidRecord as error:
            raise self._refusal(error) from error
        except DuplicateKey as error:
            # The duplicate is of another key, or the caller did not ask for a new record.
            if conditions.exists is not False or error.key != self.key.name:
                raise
            raise Problem(412, "record_exists", "A record with this key exists.") from error
        headers = self._versions.headers(stored.version)
        return json_response({"id": stored.id, "created": stored.created}, headers=headers)

    def _conditions(self, request: HttpRequest) -> _Conditions:
        """Return what If-Match and If-None-Match ask for. Raises Problem 400."""
        if_none_match = request.META.get("HTTP_IF_NONE_MATCH")
        if if_none_match is None:
            versions = self._versions.wanted(request)
            return _Conditions(True if "HTTP_IF_MATCH" in request.META else None, versions)
        if if_none_match.strip() != "*" or "HTTP_IF_MATCH" in request.META:
            raise Problem(
                400, "invalid_if_none_match", "If-None-Match takes * here, and no If-Match stands beside it."
            )
        return _Conditions(False, None)

    def _store(
        self, key: dict[str, Value], sent: Sent, conditions: _Conditions, exchange: Exchange
    ) -> Upserted:
        """Write the record in one call of the platform if no row rule and no choice of versions is in the
        way; else look for it first, and try again when others change it meanwhile.
        """
        is_ruled = self._rule is not None and self._rule.filter(exchange) is not None
        # The platform compares with one version at most, and knows no row rules.
        if not is_ruled and (conditions.versions is None or len(conditions.versions) == 1):
            values = self._bind(key, sent, exchange)
            version = next(iter(conditions.versions)) if conditions.versions else None
            return self.platform.upsert(
                self.entity,
                key,
                values,
                exists=conditions.exists,
                if_version=version,
                call=self._duplicates.call(exchange),
            )
        for _ in range(_ATTEMPTS):
            stored = self._store_found(key, sent, conditions, exchange)
            if stored is not None:
                return stored
        raise StateConflict(f"The {self.entity} is changed by others all the time.")

    def _store_found(
        self, key: dict[str, Value], sent: Sent, conditions: _Conditions, exchange: Exchange
    ) -> Upserted | None:
        """Look for the record, and update or create it; None when another request was quicker."""
        row = self._records.find(key, exchange, self._rule)
        # A record that the caller does not reach may have the key: it is unknown to them, and none is
        # created.
        if row is None and (conditions.exists or self._records.find(key, exchange, None) is not None):
            raise RecordNotFound(self.entity, key_text(key))
        if row is None:
            return self._create(key, sent, exchange)
        return self._change(row, key, sent, conditions, exchange)

    def _create(self, key: dict[str, Value], sent: Sent, exchange: Exchange) -> Upserted | None:
        """Create the record; None when another request has created it meanwhile. Raises Problem 403 for a
        record outside the row rule.
        """
        values = self._bind(key, sent, exchange)
        self._create_guards.check({**key, **values}, exchange)
        try:
            return self.platform.upsert(
                self.entity, key, values, exists=False, call=self._duplicates.call(exchange)
            )
        except DuplicateKey as error:
            if error.key != self.key.name:
                raise
            return None

    def _change(
        self,
        row: Mapping[str, Value],
        key: dict[str, Value],
        sent: Sent,
        conditions: _Conditions,
        exchange: Exchange,
    ) -> Upserted | None:
        """Change the record in `row`; None when another request has changed or deleted it meanwhile, unless
        the caller asks for a record that exists.

        Raises VersionMismatch for another version than the caller asks for, DuplicateKey when the caller asks
        for a new record, and Problem 403 for a change that would leave the row rule.
        """
        version = str(row[self._version]) if self._version else None
        if conditions.versions is not None and version not in conditions.versions:
            raise VersionMismatch(self.entity, key_text(key))
        if conditions.exists is False:
            raise DuplicateKey(self.entity, self.key.name)
        values = self._bind(key, sent, exchange)
        self._move_guard.check(row, values, exchange)
        try:
            return self.platform.upsert(
                self.entity,
                key,
                values,
                exists=True,
                if_version=version,
                call=self._duplicates.call(exchange),
            )
        except (VersionMismatch, RecordNotFound):
            if conditions.exists:
                raise
            return None

    def _bind(self, key: dict[str, Value], sent: Sent, exchange: Exchange) -> dict[str, Value]:
        """Return the values to write beside the key, by attribute.

        Raises InvalidRecord for a wrong value, and for a key or value that refers to a record out of the
        caller's reach.
        """
        self._key_lookups.check(key, exchange)
        return self.payload.bind(exchange, sent)

    def _refusal(self, error: InvalidRecord) -> Exception:
        """Return the exception to raise for the platform's refusal: a Problem of the key in the path, or of
        an input.
        """
        # A refusal of another entity's record is not about the key, whatever its attributes are called.
        for problem in error.problems if error.entity == self.entity else ():
            if problem.attribute in self.key.attributes:
                return Problem(400, INVALID_KEY, f"The key in the path is not valid. {problem.message}")
        return self.payload.refusal(error)

    def describe(self) -> Description:
        answer = {
            "type": "object",
            "properties": {
                "id": {"type": "string", "format": "uuid", "description": "The record's id."},
                "created": {"type": "boolean", "description": "Whether the call created it."},
            },
            "required": ["id", "created"],
            "additionalProperties": False,
        }
        versions = tuple({**parameter, "description": _IF_MATCH} for parameter in self._versions.parameters())
        # An upsert never asks for If-Match: there is no 428.
        conditions = {
            400: (
                *payload.PROBLEMS[400],
                INVALID_KEY,
                "invalid_if_none_match",
                *self._versions.problems()[400],
            ),
            412: ("record_exists", *(("version_mismatch",) if self._versions.are_kept else ())),
        }
        return Description(
            success=(200, answer, "The record was changed, or created."),
            body=self.payload.schema(),
            fields=self.payload.fields(),
            parameters=(
                self.key.parameter(),
                *versions,
                _IF_NONE_MATCH,
                *language_parameter(self.endpoint.definition),
            ),
            headers={"ETag": "The record's new version."} if self._versions.are_kept else {},
            problems=self.steps.problems(
                {
                    **payload.PROBLEMS,
                    **conditions,
                    409: ("duplicate_key", *self._duplicates.codes, "state_conflict"),
                    **({403: ("outside_row_rule",)} if self._rule is not None else {}),
                }
            ),
        )

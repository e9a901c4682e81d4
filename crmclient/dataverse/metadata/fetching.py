"""Asking the platform for its metadata."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.http.messages import Request
from crmclient.dataverse.metadata import actions, processes, reading
from crmclient.dataverse.metadata.documents import OPTIONS, RELATIONSHIPS, EntityDocument, ProcessDocument
from crmclient.dataverse.subjects import Kind, Subject
from crmclient.errors import (
    InvalidQuery,
    MissingPrivilege,
    PlatformError,
    RecordNotFound,
    UnexpectedAnswer,
    UnknownEntity,
)
from crmclient.metadata import ENGLISH, Attribute, AttributeType, Entity, OptionSet
from crmclient.platform import Call
from crmclient.values import Guid, parse_guid

_METADATA: Final = Subject(Kind.METADATA)
_NAMESPACE: Final = "Microsoft.Dynamics.CRM"

_ENTITY_COLUMNS: Final = ",".join(
    (
        *("LogicalName", "EntitySetName", "PrimaryIdAttribute", "PrimaryNameAttribute", "DisplayName"),
        *("DisplayCollectionName", "Description", "HasNotes", "IsIntersect", "IsCustomEntity"),
        "ChangeTrackingEnabled",
    )
)
_ONE_TO_MANY: Final = ",".join(
    (
        *("SchemaName", "ReferencedEntity", "ReferencingEntity", "ReferencingAttribute"),
        *("ReferencingEntityNavigationPropertyName", "CascadeConfiguration"),
        "IsHierarchical",
    )
)
_MANY_TO_MANY: Final = ",".join(
    (
        *("SchemaName", "Entity1LogicalName", "Entity2LogicalName", "IntersectEntityName"),
        *("Entity1NavigationPropertyName", "Entity2NavigationPropertyName"),
    )
)
# No entity has it as its name.
_NO_ENTITY: Final = {"Type": "System.String", "Value": "-"}
_DELETED: Final = "Entity,Attribute,Relationship"
_CASTS: Final = {
    AttributeType.PICKLIST: "PicklistAttributeMetadata",
    AttributeType.MULTISELECT: "MultiSelectPicklistAttributeMetadata",
    AttributeType.STATE: "StateAttributeMetadata",
    AttributeType.STATUS: "StatusAttributeMetadata",
}

Found = TypeVar("Found")


class PartlyKnown(Exception):
    """The service's own account lacks `privilege`; `rest` is what is known without it."""

    def __init__(self, privilege: str, rest: Any) -> None:
        super().__init__(privilege)
        self.privilege = privilege
        self.rest = rest


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since a stamp: `stamp` is that of now; `entities` are logical names. `deleted`: there
    are entities, attributes or relationships no more, and which are not known by name."""

    stamp: str
    entities: frozenset[str]
    deleted: bool


class Fetcher:
    """Each method raises PlatformFailure when the platform is away or answers nonsense, MissingPrivilege when
    the service's own account may not ask."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def entities(self) -> dict[str, Entity]:
        answer = self._get(
            "EntityDefinitions",
            {"$select": _ENTITY_COLUMNS, "$expand": "Keys($select=LogicalName,KeyAttributes)"},
        )
        found = _read(lambda: [reading.entity(item) for item in answer["value"]])
        return {entity.logical_name: entity for entity in found if entity is not None}

    def entity(self, name: str) -> EntityDocument:
        path = f"EntityDefinitions(LogicalName='{name}')"
        unknown: dict[str, str] = {}
        related: dict[str, Any] = {}
        with _noted(unknown, RELATIONSHIPS):
            related = self._get(
                path,
                {
                    "$select": "LogicalName",
                    "$expand": f"ManyToOneRelationships($select={_ONE_TO_MANY}),"
                    f"OneToManyRelationships($select={_ONE_TO_MANY}),"
                    f"ManyToManyRelationships($select={_MANY_TO_MANY})",
                },
            )
        attributes = self._get(f"{path}/Attributes", {})
        listed = _read(lambda: [item for item in attributes["value"] if reading.attribute(item, name, {})])
        choices: dict[str, OptionSet] = {}
        with _noted(unknown, OPTIONS):
            choices = self._choices(path, name, listed)
        found = _read(lambda: [reading.attribute(item, name, choices) for item in listed])
        relationships = _read(lambda: tuple(reading.relationships(related)))
        parents = {
            known.referencing_attribute
            for known in relationships
            if known.is_hierarchical and known.referenced == known.referencing == name
        }
        return EntityDocument(
            {
                item.logical_name: replace(item, is_parent=item.logical_name in parents)
                for item in found
                if isinstance(item, Attribute)
            },
            relationships,
            _read(lambda: reading.navigation(related)),
            _read(lambda: reading.collections(related, name)),
            unknown,
        )

    def definitions(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """All that there is of some entities, as Dataverse writes it, in one request."""
        conditions = [
            {
                "ConditionOperator": "Equals",
                "PropertyName": "LogicalName",
                "Value": {"Type": "System.String", "Value": name},
            }
            for name in names
        ]
        whole = {"Properties": {"AllProperties": True}}
        parts = dict.fromkeys(("AttributeQuery", "RelationshipQuery", "KeyQuery"), whole)
        query = {"Criteria": {"FilterOperator": "Or", "Conditions": conditions}, **whole, **parts}
        answer = self._get("RetrieveMetadataChanges(Query=@p1)", {"@p1": json.dumps(query)})
        return _read(lambda: [dict(item) for item in answer["EntityMetadata"]])

    def stamp(self) -> str:
        """That of the metadata as it is now, for `changes`. Raises InvalidQuery where there is none."""
        nothing = {"ConditionOperator": "Equals", "PropertyName": "LogicalName", "Value": _NO_ENTITY}
        return self._changes({"Criteria": {"FilterOperator": "And", "Conditions": [nothing]}}, None).stamp

    def changes(self, since: str) -> Changes:
        """What has changed since the stamp `since`: one request, whose answer is empty most of the time.

        Raises InvalidQuery for a stamp that the platform does not know any more.
        """
        named = {"Properties": {"AllProperties": False, "PropertyNames": ["SchemaName"]}}
        return self._changes(
            {"AttributeQuery": {"Properties": {"AllProperties": False, "PropertyNames": ["LogicalName"]}}}
            | {"RelationshipQuery": named},
            since,
        )

    def _changes(self, query: Mapping[str, Any], since: str | None) -> Changes:
        wanted = ["LogicalName"]
        arguments = "Query=@p1"
        options = {}
        if since is not None:
            wanted += [
                "Attributes",
                "OneToManyRelationships",
                "ManyToOneRelationships",
                "ManyToManyRelationships",
            ]
            arguments += ",ClientVersionStamp=@p2,DeletedMetadataFilters=@p3"
            options = {
                "@p2": "'" + since.replace("'", "''") + "'",
                "@p3": f"{_NAMESPACE}.DeletedMetadataFilters'{_DELETED}'",
            }
        text = json.dumps({"Properties": {"AllProperties": False, "PropertyNames": wanted}, **query})
        path = paths.with_query(f"RetrieveMetadataChanges({arguments})", {"@p1": text, **options})
        # As a query, so that a stamp that has expired is told from an answer that makes no sense.
        subject = Subject(Kind.QUERY, "RetrieveMetadataChanges")
        answer = self._api.get(path, subject, self._call())
        return _read(
            lambda: Changes(
                str(answer["ServerVersionStamp"]),
                frozenset(str(item["LogicalName"]) for item in answer["EntityMetadata"]),
                any((answer.get("DeletedMetadata") or {}).get("Values") or ()),
            )
        )

    def option_sets(self) -> dict[str, OptionSet]:
        """The global ones that have options; those of two choices, yes and no, have none."""
        answer = self._get("GlobalOptionSetDefinitions", {})
        found = _read(
            lambda: [reading.option_set(item, None) for item in answer["value"] if "Options" in item]
        )
        return {item.name: item for item in found}

    def processes(self) -> dict[str, ProcessDocument]:
        """Raises PartlyKnown without the custom APIs: those that are actions are then among the others."""
        unknown: dict[str, str] = {}
        listed: dict[str, list[dict[str, Any]]] = {name: [] for name in processes.COLUMNS}
        with _noted(unknown, ""):
            rows = {
                name: self._get(name, {"$select": ",".join(columns)})
                for name, columns in processes.COLUMNS.items()
            }
            listed = _read(lambda: {name: answer["value"] for name, answer in rows.items()})
        names = _read(lambda: {row["uniquename"] for row in listed[processes.APIS]})
        classic = actions.read(self._document(), self.entities(), names)
        return _whole({**_read(lambda: processes.read(listed)), **classic}, unknown)

    def languages(self) -> tuple[int, ...]:
        """The base language first. Raises PartlyKnown with that alone."""
        unknown: dict[str, str] = {}
        provisioned: list[int] = []
        with _noted(unknown, ""):
            answer = self._get("RetrieveProvisionedLanguages()", {})
            provisioned = _read(lambda: [int(lcid) for lcid in answer["RetrieveProvisionedLanguages"]])
        base = self._base_language()
        if not provisioned:
            provisioned = [ENGLISH if base is None else base]
        return _whole(tuple(sorted(provisioned, key=lambda lcid: lcid != base)), unknown)

    def service_user(self) -> Guid:
        answer = self._get("WhoAmI", {})
        return _read(lambda: parse_guid(answer["UserId"]))

    def _base_language(self) -> int | None:
        try:
            answer = self._get("organizations", {"$select": "languagecode"})
        except (UnknownEntity, RecordNotFound, InvalidQuery, UnexpectedAnswer):
            # An account may well not be allowed to read the organisation.
            return None
        return _read(lambda: next((int(row["languagecode"]) for row in answer["value"]), None))

    def _choices(
        self, path: str, entity: str, attributes: Iterable[Mapping[str, Any]]
    ) -> dict[str, OptionSet]:
        """The option set of each choice: asked for type by type, since options are not listed otherwise."""
        known = (reading.attribute(item, entity, {}) for item in attributes)
        present = {attribute.type for attribute in known if attribute is not None}
        found: dict[str, OptionSet] = {}
        for type_, cast in _CASTS.items():
            if type_ in present:
                answer = self._get(
                    f"{path}/Attributes/{_NAMESPACE}.{cast}",
                    {"$select": "LogicalName", "$expand": "OptionSet,GlobalOptionSet"},
                )
                found.update(_read(partial(_sets, answer, entity)))
        return found

    def _document(self) -> bytes:
        """The organisation's `$metadata`, which is XML whatever is accepted."""
        request = Request("GET", f"{self._api.base}$metadata", {"Accept": "application/xml"}, repeatable=True)
        return self._api.send(request, _METADATA, self._call()).body

    def _call(self) -> Call:
        """For the service itself: these answers are megabytes, and nobody's deadline is theirs."""
        return Call(deadline=time.monotonic() + self._api.client.options.metadata_timeout)

    def _get(self, path: str, options: Mapping[str, str]) -> dict[str, Any]:
        try:
            return self._api.get(
                paths.with_query(path, options) if options else path, _METADATA, self._call()
            )
        except PlatformError as error:
            error.add_note(f"Asked for {path}.")
            raise


@contextmanager
def _noted(unknown: dict[str, str], part: str) -> Iterator[None]:
    """What is asked inside may stay `unknown` for want of a privilege: all else is worth knowing without."""
    try:
        yield
    except MissingPrivilege as error:
        unknown[part] = error.privilege


def _whole(found: Found, unknown: Mapping[str, str]) -> Found:
    for privilege in unknown.values():
        raise PartlyKnown(privilege, found)
    return found


def _sets(answer: Mapping[str, Any], entity: str) -> dict[str, OptionSet]:
    return {
        row["LogicalName"]: reading.option_set(row.get("GlobalOptionSet") or row["OptionSet"], entity)
        for row in answer["value"]
        if row.get("GlobalOptionSet") or row.get("OptionSet")
    }


def _read(read: Callable[[], Found]) -> Found:
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnexpectedAnswer(f"The platform's metadata is not as expected: {error!r}.") from error

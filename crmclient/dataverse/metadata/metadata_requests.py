"""Requests for the platform's metadata."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from crmclient.dataverse import paths
from crmclient.dataverse.api import Api
from crmclient.dataverse.error_subjects import Kind, Subject
from crmclient.dataverse.http.messages import Request, reading
from crmclient.dataverse.metadata import actions, metadata_json, processes
from crmclient.dataverse.metadata.documents import EntityDocument, ProcessDocument
from crmclient.dataverse.metadata.entity_documents import (
    entity_document,
    option_sets_of_choices,
    option_sets_of_entity,
)
from crmclient.dataverse.metadata.fetch_threads import FetchThreads
from crmclient.errors import (
    InvalidQuery,
    MissingPrivilege,
    PlatformError,
    RecordNotFound,
    UnexpectedAnswer,
    UnknownEntity,
)
from crmclient.metadata import ENGLISH, AttributeType, Entity, OptionSet
from crmclient.metadata_parts import OPTIONS, RELATIONSHIPS
from crmclient.platform import Call
from crmclient.sentences import Sentence
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
        *("Entity1IntersectAttribute", "Entity2IntersectAttribute"),
    )
)
_ALL: Final = {"AllProperties": True}
_OF_ENTITIES: Final = (
    *("LogicalName", "Attributes"),
    *("OneToManyRelationships", "ManyToOneRelationships", "ManyToManyRelationships"),
)
_OF_ATTRIBUTES: Final = (
    *("LogicalName", "AttributeOf", "AttributeType", "AttributeTypeName", "DisplayName", "Description"),
    *("RequiredLevel", "MaxLength", "Precision", "MinValue", "MaxValue", "DateTimeBehavior", "Format"),
    *("Targets", "OptionSet", "MaxSizeInKB", "IsPrimaryId", "IsPrimaryName", "IsCustomAttribute"),
    *("IsValidForCreate", "IsValidForUpdate", "IsValidForRead"),
)
_OF_RELATIONSHIPS: Final = tuple(f"{_ONE_TO_MANY},{_MANY_TO_MANY}".split(","))
# No entity has it as its name.
_NO_ENTITY: Final = {"Type": "System.String", "Value": "-"}
_DELETED: Final = "Entity,Attribute,Relationship"
_CASTS: Final = {
    AttributeType.PICKLIST: "PicklistAttributeMetadata",
    AttributeType.MULTISELECT: "MultiSelectPicklistAttributeMetadata",
    AttributeType.STATE: "StateAttributeMetadata",
    AttributeType.STATUS: "StatusAttributeMetadata",
}

AT_ONCE: Final = 4
"""Threads for documents, and for parts of them: the platform is also asked for records at the same time."""

Found = TypeVar("Found")


class PartlyKnown(Exception):
    """The service's own account lacks `privilege`; `rest` is what is known without it."""

    def __init__(self, privilege: str, rest: Any) -> None:
        super().__init__(privilege)
        self.privilege = privilege
        self.rest = rest


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since a stamp: Dataverse's word for a state of its metadata (ServerVersionStamp).

    `stamp` is the present one; `entities` are logical names. With `deleted`, there are entities, attributes
    or relationships that no longer exist, and their names are not known.
    """

    stamp: str
    entities: frozenset[str]
    deleted: bool


class Fetcher:
    """Reads metadata from Dataverse.

    Each method raises PlatformFailure when the platform does not answer or its answer is wrong, and
    MissingPrivilege when the service's own account may not read the metadata.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._threads = FetchThreads(AT_ONCE)

    def entities(self) -> dict[str, Entity]:
        """Return the entities that have an entity set and a primary id, by logical name. Records of others
        cannot be reached.
        """
        answer = self._get(
            "EntityDefinitions",
            {"$select": _ENTITY_COLUMNS, "$expand": "Keys($select=LogicalName,KeyAttributes)"},
        )
        definitions = _read_answer(lambda: [metadata_json.entity(item) for item in answer["value"]])
        return {entity.logical_name: entity for entity in definitions if entity is not None}

    def entity(self, name: str) -> EntityDocument:
        """Fetch what is known of an entity. Parts that the service's account may not read are noted as
        unknown.
        """
        path = f"EntityDefinitions(LogicalName='{name}')"
        unknown: dict[str, str] = {}
        related: dict[str, Any] = {}
        expanded = {
            "$select": "LogicalName",
            "$expand": f"ManyToOneRelationships($select={_ONE_TO_MANY}),"
            f"OneToManyRelationships($select={_ONE_TO_MANY}),"
            f"ManyToManyRelationships($select={_MANY_TO_MANY})",
        }
        # Fetched while the attributes are.
        related_fetch = self._threads.start(partial(self._get, path, expanded))
        attributes = self._get(f"{path}/Attributes", {})
        with _noting_missing_privilege(unknown, RELATIONSHIPS):
            related = related_fetch.result()
        # Without those that are not offered, such as the name of a lookup's record.
        offered = _read_answer(
            lambda: [item for item in attributes["value"] if metadata_json.attribute(item, name, {})]
        )
        choices: dict[str, OptionSet] = {}
        with _noting_missing_privilege(unknown, OPTIONS):
            choices = self._choices(path, name, offered)
        return _read_answer(lambda: entity_document(name, offered, related, choices, unknown))

    def documents(self, names: Sequence[str]) -> dict[str, EntityDocument | MissingPrivilege]:
        """Return what `entity` returns or raises of several entities, by one request for all of them. Those
        that there are not are left out.

        Where the platform refuses the request, they are asked for one by one, and what may be read is known.
        """
        try:
            definitions = self._definitions(
                names,
                _properties(*_OF_ENTITIES),
                _properties(*_OF_ATTRIBUTES),
                _properties(*_OF_RELATIONSHIPS),
            )
        except (MissingPrivilege, InvalidQuery, UnexpectedAnswer, UnknownEntity):
            by_name = {name: self._entity_or_refusal(name) for name in names}
            return {name: document for name, document in by_name.items() if document is not None}
        return _read_answer(
            lambda: {
                item["LogicalName"]: entity_document(
                    item["LogicalName"], item["Attributes"], item, option_sets_of_entity(item), {}
                )
                for item in definitions
            }
        )

    def _entity_or_refusal(self, name: str) -> EntityDocument | MissingPrivilege | None:
        """Return what `entity` returns or raises; None for an unknown entity."""
        try:
            return self.entity(name)
        except UnknownEntity:
            return None
        except MissingPrivilege as error:
            return error

    def definitions(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return the complete definitions of some entities as Dataverse writes them, by one request."""
        return self._definitions(names, _ALL, _ALL, _ALL)

    def _definitions(
        self,
        names: Sequence[str],
        of_entities: Mapping[str, Any],
        of_attributes: Mapping[str, Any],
        of_relationships: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """Ask for some entities by one request. The last three arguments say which properties are wanted."""
        if not names:
            # Without a condition, the platform would return every entity.
            return []
        conditions = [
            {
                "ConditionOperator": "Equals",
                "PropertyName": "LogicalName",
                "Value": {"Type": "System.String", "Value": name},
            }
            for name in names
        ]
        query = {
            "Criteria": {"FilterOperator": "Or", "Conditions": conditions},
            "Properties": of_entities,
            "AttributeQuery": {"Properties": of_attributes},
            "RelationshipQuery": {"Properties": of_relationships},
        }
        if of_entities is _ALL:
            # Otherwise keys are not wanted: `entities` has them.
            query["KeyQuery"] = {"Properties": _ALL}
        answer = self._get("RetrieveMetadataChanges(Query=@p1)", {"@p1": json.dumps(query)})
        return _read_answer(lambda: [dict(item) for item in answer["EntityMetadata"]])

    def stamp(self) -> str:
        """Return the stamp of the present metadata, for `changes`. Raises InvalidQuery when there is none."""
        nothing = {"ConditionOperator": "Equals", "PropertyName": "LogicalName", "Value": _NO_ENTITY}
        return self._changes({"Criteria": {"FilterOperator": "And", "Conditions": [nothing]}}, None).stamp

    def changes(self, since: str) -> Changes:
        """Return what has changed since the stamp `since`, by one request, whose answer is usually empty.

        Raises InvalidQuery for a stamp that the platform does not know any more.
        """
        # Of attributes and relationships that have changed, no more than a name is asked for.
        only_schema_name = {"Properties": {"AllProperties": False, "PropertyNames": ["SchemaName"]}}
        return self._changes(
            {"AttributeQuery": {"Properties": {"AllProperties": False, "PropertyNames": ["LogicalName"]}}}
            | {"RelationshipQuery": only_schema_name},
            since,
        )

    def _changes(self, query: Mapping[str, Any], since: str | None) -> Changes:
        """Ask which entities have changed since the stamp `since` (None: ask for a first stamp). `query` has
        further parts of the request's query.
        """
        property_names = ["LogicalName"]
        arguments = "Query=@p1"
        options = {}
        if since is not None:
            property_names += [
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
        text = json.dumps({"Properties": {"AllProperties": False, "PropertyNames": property_names}, **query})
        path = paths.with_query(f"RetrieveMetadataChanges({arguments})", {"@p1": text, **options})
        # As a query, so that a stamp that has expired is told from an answer that makes no sense.
        subject = Subject(Kind.QUERY, "RetrieveMetadataChanges")
        answer = self._api.get(path, subject, self._call())
        return _read_answer(
            lambda: Changes(
                str(answer["ServerVersionStamp"]),
                frozenset(str(item["LogicalName"]) for item in answer["EntityMetadata"]),
                any((answer.get("DeletedMetadata") or {}).get("Values") or ()),
            )
        )

    def option_sets(self) -> dict[str, OptionSet]:
        """Return the global option sets by name, without those for yes and no, which have no list of
        options.
        """
        answer = self._get("GlobalOptionSetDefinitions", {})
        definitions = _read_answer(
            lambda: [metadata_json.option_set(item, None) for item in answer["value"] if "Options" in item]
        )
        return {item.name: item for item in definitions}

    def processes(self) -> dict[str, ProcessDocument]:
        """Return the processes by name.

        Raises PartlyKnown when the custom APIs may not be read. Those of them that are actions are then among
        the other actions.
        """
        unknown: dict[str, str] = {}
        # By entity set; empty where they may not be read.
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in processes.COLUMNS}
        document, entities = self._threads.start(self._metadata_xml), self._threads.start(self.entities)
        fetches = {
            name: self._threads.start(partial(self._rows, name, {"$select": ",".join(columns)}))
            for name, columns in processes.COLUMNS.items()
        }
        with _noting_missing_privilege(unknown, ""):
            rows = {name: fetch.result() for name, fetch in fetches.items()}
        custom_api_names = _read_answer(lambda: {row["uniquename"] for row in rows[processes.APIS]})
        # `$metadata` lists custom APIs, too: what is known of them by their own rows is left out there.
        classic = actions.read(document.result(), entities.result(), custom_api_names)
        return _raise_if_partial({**_read_answer(lambda: processes.read(rows)), **classic}, unknown)

    def languages(self) -> tuple[int, ...]:
        """Return the LCIDs, the base language first. Raises PartlyKnown with the base language alone."""
        unknown: dict[str, str] = {}
        provisioned: list[int] = []
        base_language = self._threads.start(self._base_language)
        with _noting_missing_privilege(unknown, ""):
            answer = self._get("RetrieveProvisionedLanguages()", {})
            provisioned = _read_answer(lambda: [int(lcid) for lcid in answer["RetrieveProvisionedLanguages"]])
        base = base_language.result()
        if not provisioned:
            provisioned = [ENGLISH if base is None else base]
        # The base language comes first, because False sorts before True; the others keep their order.
        return _raise_if_partial(tuple(sorted(provisioned, key=lambda lcid: lcid != base)), unknown)

    def service_user(self) -> Guid:
        answer = self._get("WhoAmI", {})
        return _read_answer(lambda: parse_guid(answer["UserId"]))

    def _base_language(self) -> int | None:
        """Return the LCID of the organisation's base language; None where it cannot be read."""
        try:
            answer = self._get("organizations", {"$select": "languagecode"})
        except (UnknownEntity, RecordNotFound, InvalidQuery, UnexpectedAnswer):
            # An account may well not be allowed to read the organisation.
            return None
        return _read_answer(lambda: next((int(row["languagecode"]) for row in answer["value"]), None))

    def _choices(
        self, path: str, entity: str, attributes: Iterable[Mapping[str, Any]]
    ) -> dict[str, OptionSet]:
        """Return the option set of each choice attribute. They are asked for by type: other requests do not
        list options.
        """
        definitions = (metadata_json.attribute(item, entity, {}) for item in attributes)
        present = {attribute.type for attribute in definitions if attribute is not None}
        expanded = {"$select": "LogicalName", "$expand": "OptionSet,GlobalOptionSet"}
        fetches = [
            self._threads.start(partial(self._get, f"{path}/Attributes/{_NAMESPACE}.{cast}", expanded))
            for type_, cast in _CASTS.items()
            if type_ in present
        ]
        option_sets: dict[str, OptionSet] = {}
        for fetch in fetches:
            option_sets.update(_read_answer(partial(option_sets_of_choices, fetch.result(), entity)))
        return option_sets

    def _metadata_xml(self) -> bytes:
        """Return the organisation's `$metadata`. It is always XML."""
        request = Request("GET", f"{self._api.base}$metadata", {"Accept": "application/xml"}, repeatable=True)
        return self._api.send(request, _METADATA, self._call()).body

    def _call(self) -> Call:
        """Return a call by the service itself. Metadata are megabytes, and have a time limit of their own."""
        return Call(deadline=time.monotonic() + self._api.client.options.metadata_timeout)

    def _get(self, path: str, options: Mapping[str, str]) -> dict[str, Any]:
        """Return the JSON that Dataverse answers at a path with query options. Errors note the path."""
        with _noting_path(path):
            return self._api.get(
                paths.with_query(path, options) if options else path, _METADATA, self._call()
            )

    def _rows(self, entity_set: str, options: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return all rows of an entity set, which is paged as records are, and not as metadata. Errors note
        the path.
        """
        with _noting_path(entity_set):
            return list(self._api.rows(paths.with_query(entity_set, options), _METADATA, self._call()))


@contextmanager
def _noting_path(path: str) -> Iterator[None]:
    """Add to an error for which path Dataverse was asked."""
    try:
        yield
    except PlatformError as error:
        error.add_note(f"Asked for {path}.")
        raise


@contextmanager
def _noting_missing_privilege(unknown: dict[str, str], part: str) -> Iterator[None]:
    """Note in `unknown` that a privilege is missing for `part`, and go on without this part."""
    try:
        yield
    except MissingPrivilege as error:
        unknown[part] = error.privilege


def _raise_if_partial(content: Found, unknown: Mapping[str, str]) -> Found:
    """Return `content`. Raises PartlyKnown when a privilege for a part of it is missing."""
    if unknown:
        # Whoever calls this names all parts alike, so there is one privilege at most.
        raise PartlyKnown(next(iter(unknown.values())), content)
    return content


def _properties(*names: str) -> dict[str, Any]:
    """Return what a request for metadata says of the properties that it wants."""
    return {"AllProperties": False, "PropertyNames": list(names)}


def _read_answer(read: Callable[[], Found]) -> Found:
    """Return what `read` takes from an answer. Raises UnexpectedAnswer for what it does not find."""
    with reading(Sentence("the platform's metadata")):
        return read()

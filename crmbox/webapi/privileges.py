"""A user who may not do everything: CRM_SERVER_DENIED names the privileges that the service's account lacks.

A privilege is called as in Dataverse: `prvReadAccount`, `prvReadEntity`. `WhoAmI` and the like, which need
none there, are denied by their own names. Everybody may do everything otherwise.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from crmbox.engine.definitions import Ownership
from crmbox.engine.snapshot import Snapshot, StoredEntity
from crmbox.processes.run import offered_processes
from crmbox.webapi.errors import WebApiError
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.request import Request
from crmclient.metadata import Attribute, AttributeType

_METADATA: Final = {
    "EntityDefinitions": "prvReadEntity",
    "GlobalOptionSetDefinitions": "prvReadOptionSet",
    "RelationshipDefinitions": "prvReadRelationship",
    "RetrieveProvisionedLanguages": "prvReadLanguage",
    "RetrieveAvailableLanguages": "prvReadLanguage",
    "customapis": "prvReadCustomAPI",
    "customapirequestparameters": "prvReadCustomAPIRequestParameter",
    "customapiresponseproperties": "prvReadCustomAPIResponseProperty",
    "organizations": "prvReadOrganization",
}
_ACTIVITIES: Final = (
    *("activitypointer", "appointment", "email", "fax", "incidentresolution", "letter", "opportunityclose"),
    *("phonecall", "task"),
)
# All activities have the privileges of one entity, as on Dataverse.
_ENTITIES: Final = {
    "systemuser": "User",
    "annotation": "Note",
    "savedquery": "Query",
    **dict.fromkeys(_ACTIVITIES, "Activity"),
}
_VERBS: Final = {"POST": "Create", "PATCH": "Write", "PUT": "Write", "DELETE": "Delete"}
_DEFINITION_PARTS: Final = {
    "prvReadAttribute": re.compile(r"\bAttributes\b"),
    "prvReadRelationship": re.compile(r"To(?:One|Many)Relationships\b"),
    "prvReadOptionSet": re.compile(r"\b(?:Global)?OptionSet\b"),
}
"""By privilege, the parts of an entity's definition that need it, as the path or `$expand` name them."""

_ALL_PROPERTIES: Final = re.compile(r'"AllProperties"\s*:\s*true')

_RIGHTS: Final = ("Create", "Read", "Write", "Delete", "Append", "AppendTo")
_RIGHTS_OF_OWNERS: Final = ("Assign", "Share")
_OTHERS: Final = ("prvReadAttribute", "prvActOnBehalfOfAnotherUser")
_BULK: Final = {
    "CreateMultiple": ("Create",),
    "UpdateMultiple": ("Write",),
    "UpsertMultiple": ("Create", "Write"),
}
_PRIVILEGES: Final = uuid.UUID("6c3f2c0e-6a63-4cf5-9c0d-7d6f0a1f5b1e")
"""The namespace of the ids of privileges, which follow from their names."""

_NAME: Final = re.compile(r"\w+")
_LINKED: Final = re.compile(r"<link-entity\b[^>]*?\sname\s*=\s*[\"'](\w+)[\"']")


@dataclass(frozen=True, slots=True)
class Privilege:
    """A privilege. `right` is what it allows, as `PrivilegeType` of the metadata says it."""

    name: str
    right: str = "None"

    @property
    def id(self) -> str:
        return str(uuid.uuid5(_PRIVILEGES, self.name))


_lock = threading.Lock()
_denied: frozenset[str] | None = None
"""In lower case; None until the setting is read."""


def deny(privileges: Iterable[str]) -> None:
    """Deny `privileges` from now on, instead of those in the setting."""
    global _denied
    with _lock:
        _denied = frozenset(name.lower() for name in privileges)


def privileges_of(stored: StoredEntity) -> list[Privilege]:
    """Return the privileges for records of an entity. What nobody owns cannot be assigned or shared."""
    rights = (*_RIGHTS, *(_RIGHTS_OF_OWNERS if stored.definition.ownership is Ownership.USER else ()))
    return [Privilege(_privilege(right, stored.entity.logical_name), right) for right in rights]


def held_privileges(snapshot: Snapshot) -> list[Privilege]:
    """Return all privileges that are not denied."""
    of_processes = (process.privilege for process in offered_processes(snapshot).values())
    others = dict.fromkeys((*_METADATA.values(), *_OTHERS, *filter(None, of_processes)))
    privileges = [Privilege(name) for name in others] + [
        privilege for stored in snapshot.entities.values() for privilege in privileges_of(stored)
    ]
    denied = _denied_now()
    # An entity may have a privilege of the same name as those for metadata.
    by_name = {privilege.name: privilege for privilege in privileges}
    return [privilege for name, privilege in by_name.items() if name.lower() not in denied]


def refuse_denied(request: Request) -> None:
    """Raise WebApiError, in Dataverse's words, for a request that needs a denied privilege."""
    if request.path:
        _refuse(request, _needed_privileges(request))


def refuse_unreadable(request: Request, entity: str) -> None:
    """Raise WebApiError if the caller may not read records of `entity`."""
    _refuse(request, (_privilege("Read", entity),))


def refuse_reference(request: Request, entity: str, attribute: Attribute, target: str) -> None:
    """Raise WebApiError if the caller may not let `attribute` of a record of `entity` refer to one of
    `target`: append the one to the other or, for an owner, assign it.
    """
    if attribute.type is AttributeType.OWNER:
        _refuse(request, (_privilege("Assign", entity),))
    else:
        _refuse(request, (_privilege("Append", entity), _privilege("AppendTo", target)))


def _denied_now() -> frozenset[str]:
    """Return the names of the denied privileges, in lower case."""
    if _denied is None:
        deny(settings.PORTICO["CRM_SERVER_DENIED"])
    # Another thread may have set them meanwhile, and never to None.
    assert _denied is not None  # noqa: S101
    return _denied


def _refuse(request: Request, needed: Iterable[str]) -> None:
    """Raise WebApiError for the first privilege among `needed` that is denied."""
    denied = _denied_now()
    if not denied:
        return
    for privilege in needed:
        if privilege.lower() in denied:
            # Clients read the privilege from these words. The numbers in them mean nothing here.
            raise WebApiError(
                403,
                "0x80040220",
                f"Principal user (Id={request.user}, type=8, roleCount=1, privilegeCount=21, accessMode=4 "
                f"Non-interactive), is missing {privilege} privilege on OTC=0 for entity "
                f"'{request.path[0].name}'. context.Caller={request.user}.",
            )


def _privilege(verb: str, entity: str) -> str:
    """Return the name of a privilege, such as `prvReadAccount`. Custom entities keep their own names."""
    return f"prv{verb}{_ENTITIES.get(entity, entity.title() if entity.isalpha() else entity)}"


def _expanded_entities(request: Request, entity: str) -> Iterator[str]:
    """Yield the entities whose records `$expand` adds to the answer.

    Lookups with several targets are left out: the request does not say which entity they lead to.
    """
    type_ = request.model.entity_type(entity)
    for name in _NAME.findall(request.query.get("$expand", "")):
        if name in type_.collections:
            yield type_.collections[name].entity
        elif name in type_.lookups and len(type_.lookups[name].targets) == 1:
            yield from type_.lookups[name].targets


def _linked_entities(request: Request) -> Iterator[str]:
    """Yield the entities that FetchXML links, without those that only pair the records of a many-to-many
    relationship.
    """
    for name in _LINKED.findall(request.query.get("fetchXml", "")):
        stored = request.model.snapshot.entities.get(name)
        if stored is not None and not stored.entity.is_intersect:
            yield name


def _needed_for_records(request: Request, entity: str) -> Iterator[str]:
    """Yield the privileges that the request needs to read, write or associate records of `entity`."""
    last = request.path[-1].name
    if last.startswith(f"{NAMESPACE}."):
        operation = last.removeprefix(f"{NAMESPACE}.")
        # Denied by its own name, beside what it needs.
        yield operation
        yield from _needed_for_process(request, operation, entity)
        yield from (_privilege(right, entity) for right in _BULK.get(operation, ("Read",)))
    elif last == "$ref" and request.method != "GET":
        yield from _needed_for_association(request, entity)
    elif len(request.path) > 1:
        # Below a record there are its properties and files: to delete one is to write the record.
        yield _privilege("Read" if request.method == "GET" else "Write", entity)
    else:
        yield _privilege(_VERBS.get(request.method, "Read"), entity)


def _needed_for_process(request: Request, name: str, entity: str | None) -> Iterator[str]:
    """Yield the privilege without which nobody may run the process `name` on records of `entity`; None: on no
    record. Nothing where there is no such process, or everybody may run it.
    """
    process = offered_processes(request.model.snapshot).get(name)
    if process is not None and process.entity == entity and process.privilege:
        yield process.privilege


def _needed_for_association(request: Request, entity: str) -> Iterator[str]:
    """Yield the privileges to associate or disassociate a record of `entity` by `$ref`."""
    type_ = request.model.entity_type(entity)
    name = request.path[-2].name
    if name in type_.lookups:
        yield _privilege("Append", entity)
        if len(type_.lookups[name].targets) == 1:
            yield _privilege("AppendTo", type_.lookups[name].targets[0])
    elif name in type_.collections:
        collection = type_.collections[name]
        yield _privilege("Append", collection.entity)
        # In a many-to-many relationship, both records are appended.
        yield _privilege("Append" if collection.attribute is None else "AppendTo", entity)


def _needed_privileges(request: Request) -> Iterator[str]:
    """Yield the privileges that the request needs. A function without one needs its own name."""
    name = request.path[0].name
    entity = request.model.sets.get(name)
    if entity is not None:
        yield from _needed_for_records(request, entity)
        joined = (*_expanded_entities(request, entity), *_linked_entities(request))
        yield from (_privilege("Read", name) for name in joined)
        return
    if name == "EntityDefinitions":
        parts = " ".join([*(part.name for part in request.path[1:]), request.query.get("$expand", "")])
        yield from (privilege for privilege, part in _DEFINITION_PARTS.items() if part.search(parts))
    elif name == "RetrieveMetadataChanges":
        yield from _needed_for_metadata_query(request)
    else:
        yield from _needed_for_process(request, name, None)
    yield _METADATA.get(name, name)


def _needed_for_metadata_query(request: Request) -> Iterator[str]:
    """Yield the privileges for what a query of RetrieveMetadataChanges selects, as of `EntityDefinitions`."""
    arguments = (argument.value for argument in request.path[0].arguments or ())
    text = " ".join((*arguments, *request.query.values()))
    selects_all = "PropertyNames" not in text or _ALL_PROPERTIES.search(text) is not None
    yield _METADATA["EntityDefinitions"]
    yield from (
        privilege for privilege, part in _DEFINITION_PARTS.items() if selects_all or part.search(text)
    )

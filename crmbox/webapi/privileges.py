"""A user who may not do everything: CRM_SERVER_DENIED names the privileges that the service's account lacks.

A privilege is called as in Dataverse: `prvReadAccount`, `prvReadEntity`. `WhoAmI` and the like, which need
none there, are denied by their own names. Everybody may do everything otherwise.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from typing import Final

from django.conf import settings

from crmbox.webapi.errors import WebApiError
from crmbox.webapi.request import Request

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
_ENTITIES: Final = {"systemuser": "User", "annotation": "Note"}
_VERBS: Final = {"POST": "Create", "PATCH": "Write", "PUT": "Write", "DELETE": "Delete"}
_DEFINITION_PARTS: Final = {
    "prvReadAttribute": re.compile(r"\bAttributes\b"),
    "prvReadRelationship": re.compile(r"To(?:One|Many)Relationships\b"),
    "prvReadOptionSet": re.compile(r"\b(?:Global)?OptionSet\b"),
}
"""By privilege, the parts of an entity's definition that need it, as the path or `$expand` name them."""

_NAME: Final = re.compile(r"\w+")

_lock = threading.Lock()
_denied: frozenset[str] | None = None
"""In lower case; None until the setting is read."""


def deny(privileges: Iterable[str]) -> None:
    """Deny `privileges` from now on, instead of those in the setting."""
    global _denied
    with _lock:
        _denied = frozenset(name.lower() for name in privileges)


def refuse_denied(request: Request) -> None:
    """Raise WebApiError, in Dataverse's words, for a request that needs a denied privilege."""
    if request.path:
        _refuse(request, _needed_privileges(request))


def refuse_unreadable(request: Request, entity: str) -> None:
    """Raise WebApiError if the caller may not read records of `entity`."""
    _refuse(request, (_privilege("Read", entity),))


def _refuse(request: Request, needed: Iterable[str]) -> None:
    """Raise WebApiError for the first privilege among `needed` that is denied."""
    if _denied is None:
        deny(settings.PORTICO["CRM_SERVER_DENIED"])
    denied = _denied
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


def _needed_privileges(request: Request) -> Iterator[str]:
    """Yield the privileges that the request needs. A function without one needs its own name."""
    name = request.path[0].name
    entity = request.model.sets.get(name)
    if entity is not None:
        yield _privilege(_VERBS.get(request.method, "Read"), entity)
        yield from (_privilege("Read", expanded) for expanded in _expanded_entities(request, entity))
        return
    if name == "EntityDefinitions":
        parts = " ".join([*(part.name for part in request.path[1:]), request.query.get("$expand", "")])
        yield from (privilege for privilege, part in _DEFINITION_PARTS.items() if part.search(parts))
    yield _METADATA.get(name, name)

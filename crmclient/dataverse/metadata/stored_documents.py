"""Documents as the store has them: their names, and what is to be stored of what was fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from pydantic import TypeAdapter

from crmclient.dataverse.metadata import documents
from crmclient.dataverse.metadata.documents import EntityDocument
from crmclient.dataverse.metadata.metadata_requests import PartlyKnown
from crmclient.errors import MissingPrivilege
from crmclient.metadata_parts import ENTITY

FORMAT: Final = "3"
"""Part of every document's name: a later form of documents does not meet those of an earlier one."""

DENIED: Final = "denied/"
"""Before the name of what the service's own account may not read: that document says what it lacks."""

Found = TypeVar("Found")


def documents_of(name: str, adapter: TypeAdapter[Found], fetch: Callable[[], Found]) -> dict[str, bytes]:
    """Return the documents to store under a name: what was fetched, and the privileges that are missing for
    it.
    """
    denied: dict[str, str] = {}
    documents_by_name: dict[str, bytes] = {}
    try:
        value = fetch()
        documents_by_name[stored_name(name)] = adapter.dump_json(value)
        if isinstance(value, EntityDocument):
            denied = {f"{name}/{part}": privilege for part, privilege in value.unknown.items()}
    except PartlyKnown as partly:
        documents_by_name[stored_name(name)] = adapter.dump_json(partly.rest)
        denied = {name: partly.privilege}
    except MissingPrivilege as error:
        denied = {name: error.privilege}
    for part, privilege in denied.items():
        documents_by_name[stored_name(DENIED + part)] = documents.PRIVILEGE.dump_json(privilege)
    return documents_by_name


def entity_documents(name: str, document: EntityDocument | MissingPrivilege) -> dict[str, bytes]:
    """Return the documents to store of an entity that was fetched together with others."""

    def fetch() -> EntityDocument:
        if isinstance(document, MissingPrivilege):
            raise document
        return document

    return documents_of(ENTITY + name, documents.ENTITY, fetch)


def entities_in(stored_names: Iterable[str]) -> set[str]:
    """Return the logical names of the entities that documents with these names in the store are about."""
    names = (name.removeprefix(stored_name("")).removeprefix(DENIED) for name in stored_names)
    return {name.removeprefix(ENTITY).partition("/")[0] for name in names if name.startswith(ENTITY)}


def stored_name(name: str) -> str:
    return f"{FORMAT}/{name}"

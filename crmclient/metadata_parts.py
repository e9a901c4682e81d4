"""The parts of a platform's metadata: their keys, which programs read, and their names for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from crmclient.sentences import Counted, Sentence, listed

STAMP: Final = "stamp"
ENTITIES: Final = "entities"
OPTION_SETS: Final = "optionsets"
PROCESSES: Final = "processes"
LANGUAGES: Final = "languages"
SERVICE_USER: Final = "serviceuser"
SECURITY_ROLES: Final = "securityroles"
USERS: Final = "users"
TEAMS: Final = "teams"
VIEWS: Final = "views"

ENTITY: Final = "entity/"
"""Before an entity's logical name; a slash and one of the two below may follow the name."""
RELATIONSHIPS: Final = "relationships"
OPTIONS: Final = "options"

_NAMES: Final = {
    STAMP: Sentence("the state of the metadata"),
    ENTITIES: Sentence("which entities there are"),
    OPTION_SETS: Sentence("global option sets"),
    PROCESSES: Sentence("processes"),
    LANGUAGES: Sentence("languages"),
    SERVICE_USER: Sentence("who the application user is"),
    SECURITY_ROLES: Sentence("security roles"),
    USERS: Sentence("users"),
    TEAMS: Sentence("the teams of users"),
    VIEWS: Sentence("views"),
}


def parts_by_privilege(missing: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the keys of parts by the privilege without which they are unknown.

    `missing` are pairs of a part and its privilege, which is empty where the platform does not name it.
    """
    parts: dict[str, list[str]] = {}
    for part, privilege in missing:
        parts.setdefault(privilege, []).append(part)
    return parts


def parts_in_words(keys: Iterable[str]) -> Sentence:
    """Return the names of some parts as a list within a sentence. Entities of which the same is meant are
    named together.
    """
    names: list[str] = []
    entities_by_detail: dict[str, list[str]] = {}
    for key in keys:
        if key.startswith(ENTITY):
            entity, _, detail = key.removeprefix(ENTITY).partition("/")
            entities_by_detail.setdefault(detail, []).append(entity)
        else:
            names.append(_NAMES.get(key, key))
    names += [_of_entities(detail, entities) for detail, entities in entities_by_detail.items()]
    return listed(names, ", ")


def _of_entities(detail: str, entities: list[str]) -> str:
    """Return the name of what `detail` means of some entities: without one, of all their metadata."""
    named, number = ", ".join(entities), len(entities)
    if detail == RELATIONSHIPS:
        return Counted(
            "relationships of the entity %(entities)s",
            "relationships of the entities %(entities)s",
            number,
            entities=named,
        )
    if detail == OPTIONS:
        return Counted(
            "options of the choices of the entity %(entities)s",
            "options of the choices of the entities %(entities)s",
            number,
            entities=named,
        )
    return Counted(
        "metadata of the entity %(entities)s",
        "metadata of the entities %(entities)s",
        number,
        entities=named,
    )

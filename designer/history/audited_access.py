"""What a version changes of who may call, and of which records callers reach, for the audit log.

Whatever changes the configuration becomes a version, so no way passes the log by: forms, lists, imports,
restores, commands, and what somebody has done to the database itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from designer.audit import note_account
from designer.definitions import AccessDefinition
from designer.documents.differences import differences
from designer.documents.keys import COLLECTIONS
from designer.models import AuditEntry, ItemChange, Version

_Content: TypeAlias = Mapping[str, Any]

_OF_ENDPOINTS = ("row_rule", "acknowledgements")
_OUTSIDE_RULE = "may_create_outside_rule"
_OF_USER_PROPERTIES = ("kind", "attribute", "relationship", "expression")


def _deciding_part_of_endpoint(content: _Content) -> dict[str, Any]:
    """Return what decides who calls an endpoint and which records they reach: access, row rules,
    acknowledgements.
    """
    # Documents leave defaults out. Readers of the log have no list of the defaults, so it states them.
    access = AccessDefinition.model_validate(content.get("access", {})).model_dump(mode="json")
    deciding = {"enabled": content.get("enabled", True), "access": access, **_only(content, _OF_ENDPOINTS)}
    if _OUTSIDE_RULE in content.get("settings", {}):
        deciding["settings"] = {_OUTSIDE_RULE: content["settings"][_OUTSIDE_RULE]}
    return deciding


def _deciding_part_of_issuer(content: _Content) -> dict[str, Any]:
    """Return an issuer without its description and its public keys in PEM."""
    # People cannot compare keys in PEM, so `_lines_of_changes` says only that they changed.
    keys = {name: value for name, value in content.get("keys", {}).items() if name != "pem"}
    return {name: value for name, value in content.items() if name != "description"} | {"keys": keys}


def _only(content: _Content, names: Iterable[str]) -> dict[str, Any]:
    """Return those of the members `names` that `content` has."""
    return {name: content[name] for name in names if name in content}


# The deciding part of an item, by the list of the document. Items of other lists decide nothing.
_DECISIVE: Mapping[str, Callable[[_Content], dict[str, Any]]] = {
    "roles": lambda content: _only(content, ("name", "platform_roles")),
    "caller_types": lambda content: _only(content, ("name", "entity")),
    "user_properties": lambda content: _only(content, _OF_USER_PROPERTIES),
    "issuers": _deciding_part_of_issuer,
    "entities": lambda content: _only(content, ("entity", "row_rule")),
    "endpoints": _deciding_part_of_endpoint,
}
_IN_WORDS = {collection.field: collection.in_words for collection in COLLECTIONS}


def deciding_part(collection: str, content: _Content) -> dict[str, Any]:
    """Return the part of an item, as JSON, that decides who may call or which records callers reach."""
    decisive = _DECISIVE.get(collection)
    return {} if decisive is None else decisive(content)


def note_access_changes(version: Version, address: str, changes: Iterable[ItemChange]) -> None:
    """Write one audit entry about `version`, if it changes who may call or what callers reach.

    `address` is the network address of the author.
    """
    access_lines = list(_lines_of_changes(changes))
    if access_lines:
        origin = Version.Origin(version.origin).label
        subject = f"version {version.pk} ({origin})"
        note_account(
            version.account,
            AuditEntry.Action.CONFIGURATION,
            subject,
            "\n".join(access_lines),
            address=address,
        )


def _lines_of_changes(changes: Iterable[ItemChange]) -> Iterator[str]:
    """Yield a line for each item whose deciding part is added, removed or changed, and below it a line for
    each difference.
    """
    for change in changes:
        if change.collection not in _DECISIVE:
            continue
        before, after = change.before, change.after
        old, new = (
            {} if content is None else deciding_part(change.collection, content)
            for content in (before, after)
        )
        difference_lines = list(differences(old, new))
        if _pem_of_issuer(before) != _pem_of_issuer(after):
            difference_lines.append("keys.pem: changed")
        named = _IN_WORDS[change.collection](change.key)
        if before is None:
            yield f"+ {named}"
        elif after is None:
            yield f"− {named}"
        elif difference_lines:
            yield f"~ {named}"
        yield from (f"   {line}" for line in difference_lines)


def _pem_of_issuer(content: _Content | None) -> Any:
    """Return the public keys of an issuer in PEM; None without them, for other items, and for no item."""
    return (content or {}).get("keys", {}).get("pem") or None

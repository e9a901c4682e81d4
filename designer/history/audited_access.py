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


def _endpoint(content: _Content) -> dict[str, Any]:
    # Documents leave defaults out. Readers of the log have no list of the defaults, so it states them.
    access = AccessDefinition.model_validate(content.get("access", {})).model_dump(mode="json")
    deciding = {"enabled": content.get("enabled", True), "access": access, **_only(content, _OF_ENDPOINTS)}
    if _OUTSIDE_RULE in content.get("settings", {}):
        deciding["settings"] = {_OUTSIDE_RULE: content["settings"][_OUTSIDE_RULE]}
    return deciding


def _issuer(content: _Content) -> dict[str, Any]:
    # Documents hold no secrets, and a key is no text that people compare: see below.
    keys = {name: value for name, value in content.get("keys", {}).items() if name != "pem"}
    return {name: value for name, value in content.items() if name != "description"} | {"keys": keys}


def _only(content: _Content, names: Iterable[str]) -> dict[str, Any]:
    return {name: content[name] for name in names if name in content}


# The deciding part of an item, by the list of the document. Items of other lists decide nothing.
_DECISIVE: Mapping[str, Callable[[_Content], dict[str, Any]]] = {
    "roles": lambda content: _only(content, ("name", "platform_roles")),
    "caller_types": lambda content: _only(content, ("name", "entity")),
    "user_properties": lambda content: _only(content, _OF_USER_PROPERTIES),
    "issuers": _issuer,
    "entities": lambda content: _only(content, ("entity", "row_rule")),
    "endpoints": _endpoint,
}
_NAMED = {collection.field: collection.named for collection in COLLECTIONS}


def deciding_part(collection: str, content: _Content) -> dict[str, Any]:
    """Return the part of an item, as JSON, that decides who may call or which records callers reach."""
    decisive = _DECISIVE.get(collection)
    return {} if decisive is None else decisive(content)


def note_access_changes(version: Version, address: str, changes: Iterable[ItemChange]) -> None:
    """Write one audit entry about `version`, if it changes who may call or what callers reach.

    `address` is the network address of the author.
    """
    access_lines = list(_lines(changes))
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


def _lines(changes: Iterable[ItemChange]) -> Iterator[str]:
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
        inner = list(differences(old, new))
        if _pem(before) != _pem(after):
            inner.append("keys.pem: changed")
        named = _NAMED[change.collection](change.key)
        if before is None:
            yield f"+ {named}"
        elif after is None:
            yield f"− {named}"
        elif inner:
            yield f"~ {named}"
        yield from (f"   {line}" for line in inner)


def _pem(content: _Content | None) -> Any:
    return (content or {}).get("keys", {}).get("pem") or None

"""Functions of users and teams that answer with what they may do: privileges, and rights to one record."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from crmbox.engine.identities import ROOT_BUSINESS_UNIT
from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.keys import locate
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.operations.parameters import read_arguments, read_record
from crmbox.webapi.privileges import held_privileges, privileges_of
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import Target

_ALL: Final = "RetrieveUserPrivileges"
_BY_NAMES: Final = "RetrieveUserSetOfPrivilegesByNames"
_OF_RECORD: Final = "RetrievePrincipalAccess"
_PRINCIPALS: Final = {
    "systemuser": frozenset({_ALL, _BY_NAMES, _OF_RECORD}),
    "team": frozenset({_OF_RECORD}),
}


def is_answered(target: Target) -> bool:
    """Whether the operation in the path is one of these functions."""
    return target.name in _PRINCIPALS.get(target.type.name, ())


def answer(request: Request, target: Target) -> Response:
    """Answer one of these functions for the user or team in the path. Raises WebApiError, RecordNotFound."""
    if request.method != "GET":
        raise unsupported(f"{request.method} of a function")
    # A user that there is not is refused.
    request.platform.retrieve(target.type.name, locate(request, target.type, target.key), ())
    if target.name == _OF_RECORD:
        return _access_to_record(request, target)
    return _user_privileges(request, target)


def _access_to_record(request: Request, target: Target) -> Response:
    """Answer with the rights to the record that the call names. Raises WebApiError, RecordNotFound.

    A privilege reaches all records of its entity, so these are the rights to any of them.
    """
    raw = read_arguments(request, target.arguments or ()).get("Target")
    record = read_record(request, raw, "Target")
    request.platform.retrieve(record.entity, record.id, ())
    stored = request.model.snapshot.entity(record.entity)
    held = {privilege.name for privilege in held_privileges(request.model.snapshot)}
    rights = [f"{item.right}Access" for item in privileges_of(stored) if item.name in held]
    context = f"{request.base}$metadata#{NAMESPACE}.{_OF_RECORD}Response"
    return json_response({"@odata.context": context, "AccessRights": ", ".join(rights) or "None"})


def _user_privileges(request: Request, target: Target) -> Response:
    """Answer with the privileges of a user. All users have the same. Raises WebApiError."""
    asked = _asked_names(request, target) if target.name == _BY_NAMES else None
    privileges = [
        {
            "Depth": "Global",
            "PrivilegeId": privilege.id,
            "BusinessUnitId": ROOT_BUSINESS_UNIT,
            "PrivilegeName": privilege.name,
        }
        for privilege in held_privileges(request.model.snapshot)
        if asked is None or privilege.name.lower() in asked
    ]
    context = f"{request.base}$metadata#{NAMESPACE}.{target.name}Response"
    return json_response({"@odata.context": context, "RolePrivileges": privileges})


def _asked_names(request: Request, target: Target) -> Collection[str]:
    """Return the names that the call asks for, in lower case. Raises WebApiError for anything else."""
    names: Any = read_arguments(request, target.arguments or ()).get("PrivilegeNames")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise bad_url("PrivilegeNames is a list of names of privileges.")
    return {name.lower() for name in names}

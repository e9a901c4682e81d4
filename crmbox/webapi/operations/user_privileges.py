"""Functions of users that answer with privileges: everything that the caller may do, or a part of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from crmbox.engine.identities import ROOT_BUSINESS_UNIT
from crmbox.webapi.errors import bad_url, unsupported
from crmbox.webapi.keys import locate
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.operations.parameters import read_arguments
from crmbox.webapi.privileges import held_privileges
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import Target

_ALL: Final = "RetrieveUserPrivileges"
_BY_NAMES: Final = "RetrieveUserSetOfPrivilegesByNames"
NAMES: Final = frozenset({_ALL, _BY_NAMES})


def retrieve_user_privileges(request: Request, target: Target) -> Response:
    """Answer with the privileges of the user in the path. All users have the same. Raises WebApiError."""
    if request.method != "GET":
        raise unsupported(f"{request.method} of a function")
    # A user that there is not is refused.
    request.platform.user(locate(request, target.type, target.key))
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

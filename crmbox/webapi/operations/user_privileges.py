"""`RetrieveUserPrivileges`, a function of users: everything that the caller may do."""

from __future__ import annotations

from typing import Final

from crmbox.engine.identities import ROOT_BUSINESS_UNIT
from crmbox.webapi.errors import unsupported
from crmbox.webapi.keys import locate
from crmbox.webapi.model import NAMESPACE
from crmbox.webapi.privileges import held_privileges
from crmbox.webapi.request import Request, Response, json_response
from crmbox.webapi.routing import Target

NAME: Final = "RetrieveUserPrivileges"


def retrieve_user_privileges(request: Request, target: Target) -> Response:
    """Answer with the privileges of the user in the path. All users have the same. Raises WebApiError."""
    if request.method != "GET":
        raise unsupported(f"{request.method} of a function")
    # A user that there is not is refused.
    request.platform.user(locate(request, target.type, target.key))
    privileges = [
        {
            "Depth": "Global",
            "PrivilegeId": privilege.id,
            "BusinessUnitId": ROOT_BUSINESS_UNIT,
            "PrivilegeName": privilege.name,
        }
        for privilege in held_privileges(request.model.snapshot)
    ]
    context = f"{request.base}$metadata#{NAMESPACE}.{NAME}Response"
    return json_response({"@odata.context": context, "RolePrivileges": privileges})

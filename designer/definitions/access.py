"""Who may call an endpoint."""

from __future__ import annotations

from designer.definition import Definition, SetOf
from designer.names import SERVICE_TYPE, USER_TYPE


class AccessDefinition(Definition):
    """Callers of any of `caller_types`, with any of `roles`; no roles: with a token, whatever their roles.

    Without authentication anyone may call, and there are no roles. A document that does not say which types
    is of the time when there were users and services alone.
    """

    authentication_required: bool = True
    roles: SetOf[str] = ()
    caller_types: SetOf[str] = (SERVICE_TYPE, USER_TYPE)

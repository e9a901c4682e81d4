"""Who may call an endpoint."""

from __future__ import annotations

from designer.definition import Definition, SetOf


class AccessDefinition(Definition):
    """Any of `roles` is enough; none: any authenticated caller. Without authentication there are no roles."""

    authentication_required: bool = True
    roles: SetOf[str] = ()

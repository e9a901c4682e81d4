"""The URL root: what stands before every path. The command hands it to the server's processes.

The server program's own prefix is no use: it cuts off as many characters, whatever they are.
"""

from __future__ import annotations

import os
from typing import Any

from crmbox.webapi.errors import no_resource

VARIABLE = "PORTICO_CRM_SERVER_ROOT"


def below_root(environ: dict[str, Any]) -> dict[str, Any]:
    """The environ with the root as SCRIPT_NAME and the rest as PATH_INFO. Raises WebApiError (404)."""
    root, path = os.environ.get(VARIABLE, ""), environ.get("PATH_INFO", "/")
    if path != root and not path.startswith(f"{root}/"):
        raise no_resource(path)
    return {**environ, "SCRIPT_NAME": root, "PATH_INFO": path.removeprefix(root) or "/"}

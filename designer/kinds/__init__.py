"""The kinds of operation. A new one is a module here, a line below, and a module in `runtime.operations`."""

from __future__ import annotations

from designer.kinds.base import OperationKind, Scope, Section
from designer.kinds.create import CREATE
from designer.kinds.option_sets import GLOBAL_OPTION_SET, LOCAL_OPTION_SET

KINDS: dict[str, OperationKind] = {kind.name: kind for kind in (CREATE, GLOBAL_OPTION_SET, LOCAL_OPTION_SET)}

__all__ = ["KINDS", "OperationKind", "Scope", "Section"]

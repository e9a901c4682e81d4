"""The kinds of operation. A new one is a module here, a line below, and a module in `runtime.operations`.

A package adds one by entry points of `portico.kinds` and `portico.operations` (`docs/extending.md`).
"""

from __future__ import annotations

from crmclient.extensions import Registry
from designer.kinds.actions import GLOBAL_ACTION, LOCAL_ACTION
from designer.kinds.associate import ASSOCIATE
from designer.kinds.create import CREATE
from designer.kinds.delete import DELETE
from designer.kinds.files import DOWNLOAD, UPLOAD
from designer.kinds.keys import READ_BY_KEY, UPSERT
from designer.kinds.operation_kind import OperationKind, Place, Scope, Section
from designer.kinds.option_sets import GLOBAL_OPTION_SET, LOCAL_OPTION_SET
from designer.kinds.queries import MULTI_QUERY, PAGINATED_QUERY, SINGLE_QUERY
from designer.kinds.read import READ
from designer.kinds.update import UPDATE

KINDS: Registry[OperationKind] = Registry(
    "portico.kinds",
    "a kind of operation (designer.kinds.OperationKind)",
    lambda item: isinstance(item, OperationKind),
    lambda item: item.name,
)
KINDS.register(
    READ,
    CREATE,
    UPDATE,
    DELETE,
    READ_BY_KEY,
    UPSERT,
    ASSOCIATE,
    UPLOAD,
    DOWNLOAD,
    LOCAL_ACTION,
    GLOBAL_ACTION,
    SINGLE_QUERY,
    MULTI_QUERY,
    PAGINATED_QUERY,
    GLOBAL_OPTION_SET,
    LOCAL_OPTION_SET,
)

__all__ = ["KINDS", "OperationKind", "Place", "Scope", "Section", "kind_of_items"]


def kind_of_items() -> OperationKind:
    """Return the kind whose rules judge the records that inputs hold: each is made as a create makes one."""
    return CREATE

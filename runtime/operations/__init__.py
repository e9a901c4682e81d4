"""What the service can do. A new kind is a module here, its line below, and a descriptor in `designer.kinds`.

The operation of a package's kind is an entry point of `portico.operations`: the designer, which has the
descriptor, knows nothing of the runtime.
"""

from __future__ import annotations

import inspect

from crmclient.extensions import Registry
from runtime.operations.actions import GlobalActionOperation, LocalActionOperation
from runtime.operations.associate import AssociateOperation
from runtime.operations.base import Description, Operation
from runtime.operations.create import CreateOperation
from runtime.operations.delete import DeleteOperation
from runtime.operations.download import DownloadOperation
from runtime.operations.option_sets import GlobalOptionSetOperation, LocalOptionSetOperation
from runtime.operations.queries import (
    MultiQueryOperation,
    PaginatedQueryOperation,
    SingleQueryOperation,
)
from runtime.operations.read import ReadOperation
from runtime.operations.read_by_key import ReadByKeyOperation
from runtime.operations.update import UpdateOperation
from runtime.operations.upload import UploadOperation
from runtime.operations.upsert import UpsertOperation


def _is_operation(item: object) -> bool:
    """Whether `item` is a class of operations that can be served: not abstract, and with a `kind`."""
    if not (isinstance(item, type) and issubclass(item, Operation)) or inspect.isabstract(item):
        return False
    return isinstance(getattr(item, "kind", None), str)


OPERATIONS: Registry[type[Operation]] = Registry(
    "portico.operations",
    "an operation (a subclass of runtime.operations.Operation)",
    _is_operation,
    lambda item: item.kind,
)
OPERATIONS.register(
    ReadOperation,
    CreateOperation,
    UpdateOperation,
    DeleteOperation,
    ReadByKeyOperation,
    UpsertOperation,
    AssociateOperation,
    UploadOperation,
    DownloadOperation,
    LocalActionOperation,
    GlobalActionOperation,
    SingleQueryOperation,
    MultiQueryOperation,
    PaginatedQueryOperation,
    GlobalOptionSetOperation,
    LocalOptionSetOperation,
)

__all__ = ["OPERATIONS", "Description", "Operation"]

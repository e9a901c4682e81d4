"""What the service can do. A new kind is a module here, its line below, and a descriptor in the designer."""

from __future__ import annotations

from runtime.operations.actions import GlobalActionOperation, LocalActionOperation
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
from runtime.operations.update import UpdateOperation
from runtime.operations.upload import UploadOperation

OPERATIONS: dict[str, type[Operation]] = {
    operation.kind: operation
    for operation in (
        ReadOperation,
        CreateOperation,
        UpdateOperation,
        DeleteOperation,
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
}

__all__ = ["OPERATIONS", "Description", "Operation"]

"""What the service can do. A new kind is a module here, its line below, and a descriptor in the designer."""

from __future__ import annotations

from runtime.operations.base import Description, Operation
from runtime.operations.create import CreateOperation
from runtime.operations.option_sets import GlobalOptionSetOperation, LocalOptionSetOperation

OPERATIONS: dict[str, type[Operation]] = {
    operation.kind: operation
    for operation in (CreateOperation, GlobalOptionSetOperation, LocalOptionSetOperation)
}

__all__ = ["OPERATIONS", "Description", "Operation"]

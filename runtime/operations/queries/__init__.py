"""Queries: rows of the platform, by what a consultant has designed. `GET /api/{module}/queries/{name}`"""

from runtime.operations.queries.multi import MultiQueryOperation
from runtime.operations.queries.paginated import PaginatedQueryOperation
from runtime.operations.queries.single import SingleQueryOperation

__all__ = ["MultiQueryOperation", "PaginatedQueryOperation", "SingleQueryOperation"]

"""A client of CRM platforms: one interface, `Platform`, with typed values and one family of errors."""

from crmclient.platform import SERVICE_CALL, Call, Create, Delete, KeepsMetadata, Operation, Platform, Update
from crmclient.values import (
    Download,
    FileInfo,
    Guid,
    QueryResult,
    Record,
    Reference,
    Stored,
    Value,
    Values,
    new_guid,
    parse_guid,
)

__all__ = [
    "SERVICE_CALL",
    "Call",
    "Create",
    "Delete",
    "Download",
    "FileInfo",
    "Guid",
    "KeepsMetadata",
    "Operation",
    "Platform",
    "QueryResult",
    "Record",
    "Reference",
    "Stored",
    "Update",
    "Value",
    "Values",
    "new_guid",
    "parse_guid",
]

"""Dry runs of operations that read: rules read what they need; the read that makes the answer is not sent."""

from __future__ import annotations

from dataclasses import replace

from crmclient import Platform
from designer.configuration import Endpoint
from runtime.files.stores import NoteStore
from runtime.http.if_match import Meant
from runtime.operations.base import Operation
from runtime.operations.download import DownloadOperation
from runtime.operations.read import ReadOperation
from runtime.request_context import Exchange
from runtime.steps import Found, Steps


def hold_back(operation: Operation, platform: Platform, silent: Platform, exchange: Exchange) -> None:
    """Let the steps of `operation` go on asking `platform`, and what it asks itself come to `silent`."""
    operation.platform = silent
    if isinstance(operation, ReadOperation):
        operation.steps = _StepsBeforeRead(operation, platform, silent)
    if isinstance(operation, DownloadOperation):
        store = operation.store
        # Which note is meant has to be looked up; a list of them is the answer itself.
        if isinstance(store, NoteStore) and not exchange.file:
            operation.store = replace(store, platform=silent)


class _StepsBeforeRead(Steps):
    """Those of a read, which otherwise reads for its rules and its answer at once."""

    def __init__(self, operation: ReadOperation, platform: Platform, silent: Platform) -> None:
        endpoint: Endpoint = operation.endpoint
        super().__init__(endpoint, silent, reads=operation.columns.attributes)
        self._rules = Steps(endpoint, platform)

    def read(self, exchange: Exchange, meant: Meant = None) -> Found:
        self._rules.run(exchange, meant)
        return super().read(exchange, meant)

"""Duplicate detection: asked for, of the platform, by the endpoints that want it."""

from __future__ import annotations

from dataclasses import replace

from crmclient.platform import Call
from designer.kinds.duplicates import DuplicateSettings
from runtime.request_context import Exchange


class Duplicates:
    """How an endpoint's writes treat duplicates, and the problem codes for them (409)."""

    def __init__(self, settings: DuplicateSettings) -> None:
        self._are_refused = settings.refuse_duplicates
        self.codes = ("possible_duplicate",) if self._are_refused else ()

    def call(self, exchange: Exchange) -> Call:
        """Return the call for the platform's writes: one that refuses duplicates if the endpoint asks for
        that.
        """
        return replace(exchange.call, refuses_duplicates=True) if self._are_refused else exchange.call

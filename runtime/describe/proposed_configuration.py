"""Describes a proposed configuration as if it were served, for applications that are built against it."""

from __future__ import annotations

import threading
from collections import OrderedDict

from designer.configuration import Configuration, Revision
from designer.documents.problems import DocumentError
from designer.proposals.proposed_state import proposed_configuration, proposed_revision
from designer.proposals.reading_secret import open_proposal_of
from runtime.http.problems import Problem, unknown_route
from runtime.serving.served import Served, as_proposed, current

# A request header, and its name in Django's META.
HEADER = "Portico-Proposal"
META_NAME = "HTTP_PORTICO_PROPOSAL"
# Headers of every answer to a request with HEADER, also of a refusal.
VARY = f"Authorization, Accept-Encoding, {HEADER}"
NOT_STORED = {"Cache-Control": "private, no-store", "Vary": VARY}
# Making one takes as long as loading the configuration; few are read at a time.
_MOST = 4

_lock = threading.Lock()
# By the revision of the proposed state, and by that of the metadata. The one read last is at the end.
_kept: OrderedDict[tuple[Revision, str], Served] = OrderedDict()


def proposal_in(header_value: str) -> Served:
    """Return the proposed configuration that the value of HEADER names.

    Raises Problem 404 for a wrong value.
    """
    proposal = open_proposal_of(header_value)
    if proposal is None:
        raise _unknown_proposal()
    key = proposed_revision(proposal), current().metadata
    with _lock:
        served = _kept.get(key)
        if served is not None:
            _kept.move_to_end(key)
            return served
    try:
        proposed = served_of(proposed_configuration(proposal))
    except DocumentError:
        raise _unknown_proposal() from None
    with _lock:
        _kept[key] = proposed
        while len(_kept) > _MOST:
            _kept.popitem(last=False)
    return proposed


def _unknown_proposal() -> Problem:
    """Return the Problem 404 for a proposal that is not there. No cache may keep it."""
    problem = unknown_route()
    problem.headers.update(NOT_STORED)
    return problem


def served_of(configuration: Configuration | None) -> Served:
    """Return what is served now or, with a proposed `configuration`, what would be served of it."""
    return current() if configuration is None else as_proposed(configuration)

"""A data fetcher as a query of its own, so that “Run” shows what it would find."""

from __future__ import annotations

from django.utils.translation import gettext as _

from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition
from designer.kinds.queries import MULTI_QUERY, MultiQuerySettings
from designer.query_parameters import uses


class NotRunnable(Exception):
    """A data fetcher that cannot be run yet; the text says what to do."""


def query_of(endpoint: Endpoint, fetcher: str) -> Endpoint:
    """`fetcher` of `endpoint` as a multi query, with the inputs and the earlier data fetchers that it reads.

    Raises NotRunnable.
    """
    definition = endpoint.definition
    known = definition.fetchers
    at = next((at for at, one in enumerate(known) if one.name == fetcher), None)
    if at is None:
        raise NotRunnable(_("Give the data fetcher a name first."))
    chosen = known[at]
    if chosen.query is None:
        raise NotRunnable(_("The data fetcher has no query yet."))
    queries = [one.query for one in known[: at + 1] if one.query is not None]
    read = {use.parameter for query in queries for use in uses(query)}
    return Endpoint(
        EndpointDefinition(
            kind=MULTI_QUERY.name,
            module=definition.module,
            name=fetcher,
            access=definition.access,
            inputs=tuple(given for given in definition.inputs if given.name in read),
            fetchers=known[:at],
            settings=MultiQuerySettings(query=chosen.query),
        ),
        exposures=endpoint.exposures if chosen.apply_row_rules else (),
    )

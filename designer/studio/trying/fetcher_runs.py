"""A data fetcher as a query of its own, so that “Run” shows what it would find."""

from __future__ import annotations

from django.utils.translation import gettext as _

from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition
from designer.endpoint_facts.query_parameters import uses
from designer.kinds.queries import MULTI_QUERY, MultiQuerySettings


class NotRunnable(Exception):
    """A data fetcher that cannot be run yet; the text says what to do."""


def query_of(endpoint: Endpoint, fetcher: str) -> Endpoint:
    """Return a data fetcher as a multi query endpoint, with the inputs and the earlier data fetchers that it
    reads.

    Raises NotRunnable.
    """
    definition = endpoint.definition
    fetchers = definition.fetchers
    index = next((index for index, definition in enumerate(fetchers) if definition.name == fetcher), None)
    if index is None:
        raise NotRunnable(_("Give the data fetcher a name first."))
    chosen = fetchers[index]
    if chosen.query is None:
        raise NotRunnable(_("The data fetcher has no query yet."))
    queries = [fetcher.query for fetcher in fetchers[: index + 1] if fetcher.query is not None]
    read = {use.parameter for query in queries for use in uses(query)}
    return Endpoint(
        EndpointDefinition(
            kind=MULTI_QUERY.name,
            module=definition.module,
            name=fetcher,
            access=definition.access,
            inputs=tuple(
                input_definition for input_definition in definition.inputs if input_definition.name in read
            ),
            fetchers=fetchers[:index],
            settings=MultiQuerySettings(query=chosen.query),
        ),
        exposures=endpoint.exposures if chosen.apply_row_rules else (),
    )

"""A data fetcher as a query of its own, so that “Run” shows what it would find."""

from __future__ import annotations

from django.utils.translation import gettext as _

from designer.configuration import Endpoint
from designer.definitions import EndpointDefinition
from designer.endpoint_facts.query_parameters import uses
from designer.kinds.queries import MULTI_QUERY, MultiQuerySettings


class NotRunnable(Exception):
    """A data fetcher that cannot be run yet; the text says what to do."""


def endpoint_of_fetcher(endpoint: Endpoint, fetcher: str) -> Endpoint:
    """Return the data fetcher called `fetcher` as a multi query endpoint, together with the data fetchers
    before it, and with the inputs that it and those read.

    Raises NotRunnable.
    """
    definition = endpoint.definition
    fetchers = definition.fetchers
    index = next((index for index, candidate in enumerate(fetchers) if candidate.name == fetcher), None)
    if index is None:
        raise NotRunnable(_("Give the data fetcher a name first."))
    chosen_fetcher = fetchers[index]
    if chosen_fetcher.query is None:
        raise NotRunnable(_("The data fetcher has no query yet."))
    # Earlier data fetchers run, too: the query may compare with what they find.
    queries = [earlier.query for earlier in fetchers[: index + 1] if earlier.query is not None]
    parameters = {use.parameter for query in queries for use in uses(query)}
    return Endpoint(
        EndpointDefinition(
            kind=MULTI_QUERY.name,
            module=definition.module,
            name=fetcher,
            access=definition.access,
            inputs=tuple(entry for entry in definition.inputs if entry.name in parameters),
            fetchers=fetchers[:index],
            settings=MultiQuerySettings(query=chosen_fetcher.query),
        ),
        # Row rules are those of the exposures: without exposures, none applies.
        exposures=endpoint.exposures if chosen_fetcher.apply_row_rules else (),
    )

"""The tables of the configuration, and the endpoint that a row of each table concerns."""

from __future__ import annotations

from collections.abc import Mapping

# The column that holds the endpoint's id; None where any endpoint may depend on the row. For these rows, the
# change log has the name of the table, so that only what depends on it is read again.
WATCHED: Mapping[str, str | None] = {
    "designer_endpoint": "id",
    "designer_endpoint_roles": "endpoint_id",
    "designer_input": "endpoint_id",
    "designer_binding": "endpoint_id",
    "designer_column": "endpoint_id",
    "designer_fetcher": "endpoint_id",
    "designer_precondition": "endpoint_id",
    "designer_module": None,
    "designer_exposedentity": None,
    "designer_rowruleentry": None,
    "designer_rowruleentry_roles": None,
    "designer_role": None,
    "designer_callertype": None,
    "designer_issuer": None,
    "designer_rolerule": None,
    "designer_userproperty": None,
    "designer_relatedcolumn": None,
    # So that every process knows a new protection as soon as a new configuration.
    "designer_protection": None,
}

REVISION_TABLES = frozenset({"designer_revision", "designer_change"})

# A process that has missed more revisions than this reads everything again.
KEPT_CHANGES = 1_000

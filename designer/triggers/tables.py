"""Which tables are the configuration, and which endpoint a row of them concerns."""

from __future__ import annotations

from collections.abc import Mapping

# The column that holds the endpoint's id; None where any endpoint may depend on the row. Of these the change
# log says the table, so that nothing is read again that does not depend on it.
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
    # What may be changed is known at the same moment as what there is.
    "designer_protection": None,
}

REVISION_TABLES = frozenset({"designer_revision", "designer_change"})

# A process that has missed more revisions than this reads everything again.
KEPT_CHANGES = 1_000

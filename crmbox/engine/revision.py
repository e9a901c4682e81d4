"""The metadata's revision and the records' version: one row, read by every unit of work, raised by every
write.

The revision is a number with a random token. The token alone identifies the metadata's content: a number
that was rolled back is given out again.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

LOCAL_REVISION_SQL = "(SELECT metadata_token FROM crm_revision WHERE id = 1)"
"""Yields the metadata revision as text, for a reader that asks the same database for something else anyway.
"""

READ_REVISION = "SELECT metadata_number, metadata_token FROM crm_revision WHERE id = 1"

INSERT_REVISION = (
    "INSERT INTO crm_revision (id, metadata_number, metadata_token, row_version) VALUES (1, 0, %s, 0) "
    "ON CONFLICT (id) DO NOTHING"
)

RAISE_VERSION = (
    "UPDATE crm_revision SET row_version = row_version + 1 WHERE id = 1 "
    "RETURNING metadata_number, metadata_token, row_version"
)
"""Also takes the row's lock, so that versions become visible in their order: a sequence would not do that."""

RAISE_KNOWN = "UPDATE crm_revision SET row_version = row_version + 1 WHERE id = 1 AND metadata_token = ?"
"""The same for a writer that knows the metadata's token: no row is touched where it is another by now."""

ROW_VERSION = "(SELECT row_version FROM crm_revision WHERE id = 1)"

RAISE_AT_ONCE = (
    "WITH seen AS MATERIALIZED (SELECT row_version FROM crm_revision WHERE id = 1), "
    "free AS MATERIALIZED (SELECT id FROM crm_revision WHERE id = 1 FOR UPDATE SKIP LOCKED), "
    "raised AS (UPDATE crm_revision AS now SET row_version = now.row_version + 1 FROM seen, free "
    "WHERE now.id = free.id AND now.metadata_token = %s "
    "RETURNING now.row_version, now.row_version = seen.row_version + 1 AS follows) "
)
"""Begins a write that is one statement. `raised` has a row unless another writer is at work or the metadata's
token is not the parameter; it `follows` when no other has written since the statement's view of the data was
taken, so that what the statement reads is what it would read after waiting for its turn.

It never waits for the row's lock: holding a table's already, it would lock out whoever is about to alter it.
"""

IS_KNOWN = "(SELECT metadata_token FROM crm_revision WHERE id = 1) = {}"
"""The condition of a read by somebody who knows the metadata's token: no row is found where it is another."""

RAISE_METADATA = (
    "UPDATE crm_revision SET metadata_number = metadata_number + 1, metadata_token = {} WHERE id = 1"
)
"""`{}` is the dialect's placeholder, whose parameter is a new token."""


class Revision(NamedTuple):
    """The revision of the metadata."""

    number: int
    token: str


def new_token() -> str:
    return secrets.token_hex(16)

"""Physical names of tables, columns and indexes: chosen once, stored, and quoted here only.

A logical name is a name of the CRM; a physical one must suit two databases. PostgreSQL cuts identifiers at
63 bytes and shares index names over a schema, and both databases have column names of their own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container

from crmclient.errors import InvalidDefinition

LONGEST = 55
"""Characters of a name before its suffix. The suffix has room in the 63 bytes that PostgreSQL keeps."""
KEY_SUFFIX = "__k"
TARGET_SUFFIX = "__t"

_LOGICAL = re.compile(r"[a-z_][a-z0-9_]{0,127}")
_RESERVED = frozenset(
    {"cmax", "cmin", "ctid", "oid", "rowid", "_rowid_", "tableoid", "xmax", "xmin"},
)


def check_logical(name: str) -> str:
    """Return `name` if it can be a logical name. Raises InvalidDefinition."""
    if not _LOGICAL.fullmatch(name):
        raise InvalidDefinition(
            f"{name!r} cannot be a logical name: use lower-case letters, digits and underscores, "
            "at most 128, not beginning with a digit."
        )
    return name


def physical(logical: str, taken: Container[str], *, prefix: str = "", suffix: str = "") -> str:
    """Return a name of a table or column for `logical` that is not in `taken`, with `prefix` and `suffix`.

    It is the logical name itself where both databases allow that, and else a shortened one with a digest.
    """
    name = prefix + logical
    if _is_plain(name) and name + suffix not in taken:
        return name + suffix
    # Nine characters are kept free for the underscore and the eight digits of the digest.
    for attempt in range(1_000):
        digest = hashlib.sha256(f"{name}/{attempt}".encode()).hexdigest()[:8]
        candidate = f"{name[: LONGEST - 9].rstrip('_')}_{digest}{suffix}"
        if candidate not in taken:
            return candidate
    raise InvalidDefinition(f"No physical name is left for {logical!r}.")


def quote(physical_name: str) -> str:
    """Return a physical name as SQL text."""
    return f'"{physical_name}"'


def _is_plain(name: str) -> bool:
    """Whether a name can stay as it is: no database reserves it, and no column beside another is so named."""
    return len(name) <= LONGEST and name not in _RESERVED and not name.endswith((KEY_SUFFIX, TARGET_SUFFIX))

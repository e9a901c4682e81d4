"""The names that expressions see, by where they stand."""

from __future__ import annotations

# `record` is the record that the operation is about or, in a calculated column, the row that is answered.
ENDPOINT_NAMES = ("input", "user", "fetch", "record", "now")

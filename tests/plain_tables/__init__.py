"""A third platform: three plain tables of SQLite with names of their own, and as little as a CRM can have.

It shows what a platform has to be: `tables` is its metadata and conventions, `platform` the interface.
"""

from tests.plain_tables.platform import PlainTables

__all__ = ["PlainTables"]

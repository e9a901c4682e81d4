"""Example calls: kept with their endpoints, and made without changing a record."""

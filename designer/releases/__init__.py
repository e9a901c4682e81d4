"""Releases: named copies of the configuration, numbered by what they mean to callers."""

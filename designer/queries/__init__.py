"""Queries as a configuration keeps them, what their rows hold, and their conditions in words."""

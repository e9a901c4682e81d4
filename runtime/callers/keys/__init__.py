"""API keys: what machines call with, made in the studio."""

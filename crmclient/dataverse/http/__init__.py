"""Calls to the platform: tokens, limits, attempts and failures."""

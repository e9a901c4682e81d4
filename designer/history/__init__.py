"""Versions: what was changed, by whom and why, and the way back."""

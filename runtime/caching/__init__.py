"""Cached answers: what keeps them apart, what ends them, and where they are kept (`docs/caching.md`)."""

"""Granian before Django: bodies come in and answers go out without holding a thread.

The decision record about the server program, in docs/decisions, says why.
"""

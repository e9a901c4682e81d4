"""Issuers in the studio: their form, their lists, and *Explain a token*."""

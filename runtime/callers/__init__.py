"""Callers: accounts, tokens, issuers, and the resolver that turns a token's claims into a caller."""

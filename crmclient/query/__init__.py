"""Queries as values: an AST that mirrors FetchXML."""

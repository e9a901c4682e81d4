"""Queries: sent as FetchXML, page by page, and their rows read."""

"""Queries of the Web API: system query options, `fetchXml`, and the answers to them."""

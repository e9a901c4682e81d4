"""Plain Django, no REST framework: views with SQL of their own, a cache of verified tokens, orjson."""

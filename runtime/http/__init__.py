"""HTTP: problems, bodies, limits, conditional requests, addresses, request ids."""

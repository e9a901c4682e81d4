"""One of everything that a package can add to Portico. `pyproject.toml` says under which names."""

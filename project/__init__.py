"""Settings, URLs and servers: the only place where the parts are wired together."""

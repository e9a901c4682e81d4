"""The studio's own pages: what Django's admin has no page for."""

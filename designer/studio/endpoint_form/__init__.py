"""The page on which an endpoint is designed: its form, its sections, its rows."""

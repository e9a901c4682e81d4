"""FastAPI and SQLAlchemy 2 with a synchronous engine, as their tutorials teach it."""

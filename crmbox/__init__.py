"""A CRM in the box: metadata as data, a real table for every entity, on SQLite or PostgreSQL."""

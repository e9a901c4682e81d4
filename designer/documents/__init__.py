"""The configuration as a JSON document: export, import with a plan, and the document's own JSON Schema."""

"""HTTP in: routes, tokens, roles, validation, operations, problems, OpenAPI."""

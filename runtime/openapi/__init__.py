"""The API's description of itself: OpenAPI 3.1 through drf-spectacular, and Swagger UI."""

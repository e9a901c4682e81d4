"""The way in: middleware, dispatch, routes, what is served now, viewsets."""

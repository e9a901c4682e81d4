"""What the API says of itself, from one fragment an endpoint.

A fragment is what is costly to find out: an endpoint's operations as OpenAPI has them, and its part of
`/api/schema`. Fragments belong to the content of a definition, not to a row or a revision: they are kept in
the database by digest, made when an endpoint is saved or by a child process of low priority, never where
readers are served. Putting them together is cheap and is done for each kind of reader.
"""

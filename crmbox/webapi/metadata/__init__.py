"""The Web API's metadata: what it says of entities and their attributes, and how they are changed."""

"""One record at a time, as the Web API names and writes it."""

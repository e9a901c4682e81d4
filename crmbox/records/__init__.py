"""One record at a time: create, retrieve, update, delete, and several of them in a batch."""

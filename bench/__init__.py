"""`make bench`: the service beside hand-written applications that do the same work."""

"""What is done with a page before it is saved: calls are tried, queries run, values shown."""

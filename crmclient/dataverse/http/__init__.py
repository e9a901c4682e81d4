"""One call to the platform: its token, its turn, its attempts, and what can go wrong with it."""

"""What pages choose from: the platform's metadata as they ask for it."""

"""What the platform has: fetched when it is first asked for, kept in a store that outlives the process."""

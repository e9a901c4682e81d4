"""Files on their way in and out: never whole in memory, and never named by what a caller may forge."""

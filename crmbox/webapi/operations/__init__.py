"""Actions and functions: the platform's processes, and several writes at once."""

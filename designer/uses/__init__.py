"""Which part of the configuration uses which other, and which attributes of the platform."""

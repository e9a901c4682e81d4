"""What `make` runs before the product is installed, or around it."""

"""The platform's metadata: fetched when first asked for, kept in a store that outlives the process."""

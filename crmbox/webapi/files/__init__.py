"""Bytes of file and image columns, and of notes: small, in chunks, in ranges, and inside JSON."""

"""Importing a document: from the file to the rows, the values that it names, what that means to callers."""

"""Files of columns: written block by block, attached at the end, read without a transaction."""

"""Makes SQL text of a query's shape, once for each shape.

Text is made of names that the snapshot gives and of phrases written here and in the dialects. Values are
parameters, always.
"""

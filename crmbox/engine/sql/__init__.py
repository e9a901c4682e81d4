"""From a query's shape to SQL text, once for each shape.

Text is made of names that the snapshot gives and of phrases written here and in the dialects. Values are
parameters, always.
"""

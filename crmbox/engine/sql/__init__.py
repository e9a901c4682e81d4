"""From a query's shape to SQL text, once for each shape.

Text is made of names that the snapshot gives and of the phrases written here; values are parameters, always.
"""

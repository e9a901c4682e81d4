"""`?sql=…`: one SELECT of the platform's own subset of T-SQL, read by a parser and never run as text."""

"""`Idempotency-Key`: a POST sent twice is done once, whatever became of the first answer."""

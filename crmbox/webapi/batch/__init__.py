"""`$batch`: many requests in one, some of them in change sets that succeed or fail together."""

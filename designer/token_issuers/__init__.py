"""What issuers of tokens are described by: paths of claims, public keys, and their rows."""

"""The scenes `remote-portal` and `remote-portal-away`: a customer portal before a platform with limits."""

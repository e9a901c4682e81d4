"""The token endpoint: logins and refreshes, in this service's own words and in those of OAuth 2."""

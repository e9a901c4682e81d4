"""The applications that the service is measured against, written by hand as good developers write them."""

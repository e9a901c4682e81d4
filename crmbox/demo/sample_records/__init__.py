"""The demo's records, area by area: the same seed gives the same records, dated back from the loading day."""
